//===- ClangTraitNames.h - One TypeID per trait in a mixed build ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distributions build libMLIR.so with Clang. MLIR identifies an op trait by the
// printed name of the trait's instance with a class local to TypeID::get. GCC
// prints that name with the enclosing function, Clang without it. Compiled with
// GCC, our code would ask libMLIR.so for names that it does not have, and
// libMLIR.so would not see the traits of our ops. For example,
// `op->hasTrait<OpTrait::SymbolTable>()` would be false on a module. This
// header makes GCC use Clang's spelling.
//
// The build includes this header first in every file, and only if it is needed
// (see SmaltiMLIR.cmake).
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_CMAKE_CLANGTRAITNAMES_H
#define SMALTI_CMAKE_CLANGTRAITNAMES_H

#include "mlir/Support/TypeID.h"

#include <string>
#include <string_view>

namespace smalti::detail {

/// Where GCC's name of a trait instance begins to name the class local to
/// TypeID::get; npos for every other type.
template <typename T> constexpr size_t localClassPosition() {
  constexpr llvm::StringRef name = llvm::getTypeName<T>();
  return std::string_view(name.data(), name.size())
      .rfind("<mlir::TypeID::get<");
}

} // namespace smalti::detail

template <template <typename> class Trait, typename Local>
class mlir::detail::TypeIDResolver<
    Trait<Local>,
    std::enable_if_t<smalti::detail::localClassPosition<Trait<Local>>() !=
                     std::string_view::npos>>
    : public mlir::detail::FallbackTypeIDResolver {
public:
  static TypeID resolveTypeID() {
    static const std::string name =
        llvm::getTypeName<Trait<Local>>()
            .substr(0, smalti::detail::localClassPosition<Trait<Local>>())
            .str() +
        "<Empty>";
    static TypeID id = registerImplicitTypeID(name);
    return id;
  }
};

#endif // SMALTI_CMAKE_CLANGTRAITNAMES_H
