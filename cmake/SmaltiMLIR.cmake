# Finds the installed LLVM/MLIR 22 and defines how our libraries are built against it.
#
# Everything links the distribution's libMLIR.so and libLLVM.so (the imported targets `MLIR` and `LLVM`) and no
# static MLIR or LLVM archive: a second copy of MLIR in a process means a second TypeID for every type.

# MLIR's version file refuses a bare "22", so the version is checked after the package was found.
if(MLIR_DIR AND NOT EXISTS "${MLIR_DIR}/MLIRConfig.cmake")
  message(FATAL_ERROR "MLIR_DIR=${MLIR_DIR} holds no MLIRConfig.cmake; it is usually <install>/lib/cmake/mlir.")
endif()
find_package(MLIR CONFIG QUIET HINTS "${MLIR_DIR}" /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR
    "No MLIR was found. Install Debian's packages (tools/dev build does it) or set MLIR_DIR to the folder that holds "
    "MLIRConfig.cmake of an LLVM/MLIR 22.")
endif()
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR
    "Smalti needs LLVM/MLIR 22, but ${MLIR_DIR} is version ${LLVM_PACKAGE_VERSION}. Set MLIR_DIR to the folder that "
    "holds MLIRConfig.cmake of an LLVM/MLIR 22.")
endif()
foreach(dylib MLIR LLVM)
  if(NOT TARGET ${dylib})
    message(FATAL_ERROR
      "The MLIR at ${MLIR_DIR} has no shared library lib${dylib}.so. Smalti links the shared libraries alone; use an MLIR "
      "built with LLVM_BUILD_LLVM_DYLIB and MLIR_BUILD_MLIR_DYLIB.")
  endif()
endforeach()
get_target_property(smalti_mlir_dylib MLIR LOCATION)
get_filename_component(SMALTI_MLIR_LIBRARY_DIR "${smalti_mlir_dylib}" DIRECTORY)
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} at ${MLIR_DIR}")

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(smalti_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${smalti_llvm_definitions})

# GCC and Clang print the name of a local class differently, and MLIR identifies op traits by such names: see
# ClangTraitNames.h.
get_target_property(smalti_libmlir MLIR LOCATION)
if(NOT SMALTI_TRAIT_NAMES_OF STREQUAL smalti_libmlir)
  file(STRINGS "${smalti_libmlir}" smalti_clang_name REGEX "= mlir::OpTrait::SymbolTable<Empty>\\]$" LIMIT_COUNT 1)
  set(SMALTI_CLANG_TRAIT_NAMES "${smalti_clang_name}" CACHE INTERNAL "libMLIR.so was built with Clang")
  set(SMALTI_TRAIT_NAMES_OF "${smalti_libmlir}" CACHE INTERNAL "The libMLIR.so that SMALTI_CLANG_TRAIT_NAMES is about")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND SMALTI_CLANG_TRAIT_NAMES)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/ClangTraitNames.h>")
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT SMALTI_CLANG_TRAIT_NAMES)
  message(FATAL_ERROR "${smalti_libmlir} was built with GCC; build with g++ (CXX=g++), so that op traits are the same ones.")
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
                    $<$<COMPILE_LANGUAGE:CXX>:-Wno-unused-parameter>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Generated code and LLVM headers trip these. g++ 12 does not know the second, which it says beside every other warning.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-comment>)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>)
  endif()
endif()

# smalti_add_library(<name> SOURCES ... [DEPENDS ...] [LINK ...])
#
# A static library of our own code; it links the MLIR and LLVM shared libraries.
function(smalti_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
endfunction()

# smalti_add_tool(<name> <source>)
#
# A program that registers everything of ours.
function(smalti_add_tool name source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE SmaltiTritonXLA SmaltiMosaicGPU SmaltiPasses MLIR LLVM)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin
    INSTALL_RPATH "${SMALTI_MLIR_LIBRARY_DIR}")
endfunction()

# smalti_export_only(<target> <version script>)
#
# The dynamic symbols that a shared object of ours shows.
function(smalti_export_only target script)
  target_link_options(${target} PRIVATE "LINKER:--version-script=${script}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${script}")
endfunction()

# smalti_tablegen(<target> <file.td> <output> <generator arguments>...)
#
# One mlir-tblgen output; `target` collects the outputs of a folder.
macro(smalti_tablegen target td output)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${output} ${ARGN} -I${CMAKE_SOURCE_DIR})
  set(_smalti_${target}_outputs ${_smalti_${target}_outputs} ${CMAKE_CURRENT_BINARY_DIR}/${output})
endmacro()
macro(smalti_tablegen_target target)
  add_custom_target(${target} DEPENDS ${_smalti_${target}_outputs})
endmacro()
