# Chooses the C++ compiler, before project() looks for one: clang 22, from the same packages as MLIR 22, where it is
# installed. It parses MLIR's headers once, as a precompiled header. CXX or CMAKE_CXX_COMPILER chooses another compiler.
# An MLIR from elsewhere (MLIR_DIR) may be built with GCC, and Smalti must then be, too: the default compiler stays.

if(NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX} AND (NOT MLIR_DIR OR MLIR_DIR MATCHES "^/usr/lib/llvm-22/"))
  find_program(SMALTI_CLANGXX NAMES clang++-22 HINTS /usr/lib/llvm-22/bin)
  find_program(SMALTI_CLANG NAMES clang-22 HINTS /usr/lib/llvm-22/bin)
  if(SMALTI_CLANGXX AND SMALTI_CLANG)
    set(CMAKE_CXX_COMPILER "${SMALTI_CLANGXX}")
    if(NOT CMAKE_C_COMPILER AND NOT DEFINED ENV{CC})
      set(CMAKE_C_COMPILER "${SMALTI_CLANG}")
    endif()
  endif()
endif()

# CMake's default is -O3, with which Clang takes 7 % longer.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "Flags of a release build")
