# Finds the installed LLVM/MLIR 22 and defines how our libraries are built against it.
#
# All targets link the distribution's libMLIR.so and libLLVM.so (the imported targets `MLIR` and `LLVM`). They do not
# link static MLIR or LLVM archives: a second copy of MLIR in a process means a second TypeID for every type.

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
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include \"${CMAKE_CURRENT_LIST_DIR}/ClangTraitNames.h\">")
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT SMALTI_CLANG_TRAIT_NAMES)
  message(FATAL_ERROR "${smalti_libmlir} was built with GCC; build with g++ (CXX=g++), so that op traits are the same ones.")
endif()

# ccache refuses files with a precompiled header unless it may be sloppy about their macros. In depend mode it does not
# run the preprocessor. The inode cache hashes a precompiled header once instead of once per file. Two checkouts do not
# share results: a precompiled header contains absolute paths.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 CCACHE_INODECACHE=1
      "${CCACHE_PROGRAM}")
endif()

# lld links in a tenth of the time.
if(EXISTS "${LLVM_TOOLS_BINARY_DIR}/ld.lld")
  add_link_options("-B${LLVM_TOOLS_BINARY_DIR}" -fuse-ld=lld)
endif()

add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
                    $<$<COMPILE_LANGUAGE:CXX>:-Wno-unused-parameter>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Generated code and LLVM headers trip these. g++ 12 does not have the second, and reports that with every warning.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-comment>)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>)
  endif()
endif()

option(SMALTI_PRECOMPILE_HEADERS "Precompile MLIR's headers (with Clang 20 or newer)" ON)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 20)
  set(SMALTI_PRECOMPILE_HEADERS OFF)
endif()

# smalti_precompile_header(<name> <header> [BASE <name>] [LIKE <target>] [DEPENDS <target>...])
#
# Compiles a header once, on top of the precompiled header BASE. The header is the only source of an object library, whose
# object file is the precompiled header, so that the folder's flags, the depfile and ccache apply. GCC's precompiled
# headers cannot be chained and are six times as large: only Clang uses them. The users of a precompiled header need the
# same flags: if these differ from the folder's, LIKE names a target that has them and no precompiled header.
function(smalti_precompile_header name header)
  cmake_parse_arguments(ARG "" "BASE;LIKE" "DEPENDS" ${ARGN})
  if(NOT SMALTI_PRECOMPILE_HEADERS)
    return()
  endif()
  add_library(${name} OBJECT ${header})
  set_source_files_properties(${header} PROPERTIES LANGUAGE CXX)
  if(ARG_LIKE)
    foreach(property COMPILE_DEFINITIONS COMPILE_OPTIONS INCLUDE_DIRECTORIES)
      set_property(TARGET ${name} APPEND PROPERTY ${property} "$<TARGET_PROPERTY:${ARG_LIKE},${property}>")
    endforeach()
  endif()
  target_compile_options(${name} PRIVATE "SHELL:-x c++-header" -fpch-instantiate-templates "SHELL:-Xclang -fno-pch-timestamp")
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(ARG_BASE)
    smalti_use_precompiled_header(${name} ${ARG_BASE})
  endif()
  # Ninja does not order dependents after the objects of an object library; this target does.
  add_custom_target(${name}Ready DEPENDS $<TARGET_OBJECTS:${name}>)
endfunction()

# smalti_use_precompiled_header(<target> <name>)
#
# Compiles the sources of a target with a precompiled header. No source needs it: each includes what it uses.
function(smalti_use_precompiled_header target name)
  if(SMALTI_PRECOMPILE_HEADERS)
    # libstdc++ silences warnings about its own functions by pragmas, which a precompiled header does not keep.
    target_compile_options(${target} PRIVATE
      "SHELL:-include-pch \"$<TARGET_OBJECTS:${name}>\""
      "--warning-suppression-mappings=${CMAKE_SOURCE_DIR}/cmake/SuppressedWarnings.txt")
    add_dependencies(${target} ${name}Ready)
  endif()
endfunction()

# smalti_add_library(<name> [NO_MLIR] [FOLDER <folder>] SOURCES <file>... [HEADERS <precompiled header>
#                    [SOURCES_WITH_HEADERS <file>...]] [DEPENDS ...] [LINK ...])
#
# A static library of our own code; it links the MLIR and LLVM shared libraries, or LLVM's alone. Files are relative to
# FOLDER. HEADERS is for SOURCES_WITH_HEADERS, or for all sources if that list is empty.
function(smalti_add_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "FOLDER;HEADERS" "SOURCES;SOURCES_WITH_HEADERS;DEPENDS;LINK" ${ARGN})
  if(ARG_FOLDER)
    list(TRANSFORM ARG_SOURCES PREPEND "${ARG_FOLDER}/")
    list(TRANSFORM ARG_SOURCES_WITH_HEADERS PREPEND "${ARG_FOLDER}/")
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  set(parts ${name})
  if(ARG_SOURCES_WITH_HEADERS)
    add_library(${name}WithHeaders OBJECT ${ARG_SOURCES_WITH_HEADERS})
    smalti_use_precompiled_header(${name}WithHeaders ${ARG_HEADERS})
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}WithHeaders>)
    list(APPEND parts ${name}WithHeaders)
    set(ARG_HEADERS)
  endif()
  if(NOT ARG_HEADERS)
    set(ARG_HEADERS SmaltiUpstreamHeaders)
  endif()
  smalti_use_precompiled_header(${name} ${ARG_HEADERS})
  if(ARG_DEPENDS)
    foreach(part IN LISTS parts)
      add_dependencies(${part} ${ARG_DEPENDS})
    endforeach()
  endif()
  set(shared MLIR LLVM)
  if(ARG_NO_MLIR)
    set(shared LLVM)
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} ${shared})
  file(RELATIVE_PATH folder "${CMAKE_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/${ARG_FOLDER}")
  string(REGEX REPLACE "/$" "" folder "${folder}")
  list(JOIN ARG_LINK "\", \"" links)
  set_property(GLOBAL APPEND_STRING PROPERTY SMALTI_LIBRARIES
    ",\n  {\"name\": \"${name}\", \"folder\": \"${folder}\", \"links\": [\"${links}\"]}")
endfunction()

# smalti_write_libraries(<file>)
#
# The libraries that smalti_add_library() has made so far and what they link, as JSON.
function(smalti_write_libraries file)
  get_property(libraries GLOBAL PROPERTY SMALTI_LIBRARIES)
  string(REPLACE "[\"\"]" "[]" libraries "[${libraries}\n]\n")
  string(REPLACE "[," "[" libraries "${libraries}")
  file(WRITE "${file}" "${libraries}")
endfunction()

# smalti_add_tool(<name> <source>)
#
# A program that registers everything of ours.
function(smalti_add_tool name source)
  add_executable(${name} ${source})
  smalti_use_precompiled_header(${name} SmaltiUpstreamHeaders)
  # Precompiled headers are position-independent code for libraries, which an executable may also be.
  target_compile_options(${name} PRIVATE -fPIC)
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
  mlir_tablegen(${output} ${ARGN} -I${SMALTI_SOURCE_INCLUDE})
  set(_smalti_${target}_outputs ${_smalti_${target}_outputs} ${CMAKE_CURRENT_BINARY_DIR}/${output})
endmacro()
macro(smalti_tablegen_target target)
  add_custom_target(${target} DEPENDS ${_smalti_${target}_outputs})
endmacro()

smalti_precompile_header(SmaltiUpstreamHeaders cmake/UpstreamHeaders.h)
