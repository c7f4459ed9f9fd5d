# MLIR's Python bindings, as source groups (MLIRPythonSources.* and MLIRPythonExtension.*) that our package builds from.
#
# They come from the found MLIR if it exports them. Otherwise they come from upstream's own sources of exactly the same
# version: the folder SMALTI_MLIR_SOURCES (variable or environment), or the distribution's source package.

include(MLIRDetectPythonEnv)
set(MLIR_MINIMUM_PYTHON_VERSION 3.11)
if(NOT Python3_EXECUTABLE AND EXISTS "${CMAKE_SOURCE_DIR}/.venv/bin/python3")
  set(Python3_EXECUTABLE "${CMAKE_SOURCE_DIR}/.venv/bin/python3")
endif()
if(NOT Python_EXECUTABLE AND Python3_EXECUTABLE)
  set(Python_EXECUTABLE "${Python3_EXECUTABLE}")
endif()
mlir_configure_python_dev_packages()
if(NOT nanobind_VERSION VERSION_LESS 3)
  message(FATAL_ERROR "MLIR 22's bindings need nanobind >= 2.9 and < 3, found ${nanobind_VERSION}.")
endif()

set(MLIR_PYTHON_PACKAGE_PREFIX "smalti")
set(MLIR_BINDINGS_PYTHON_NB_DOMAIN "smalti")
# The bindings and what is built on them need exceptions and RTTI; upstream's functions ask this variable.
set(LLVM_COMPILER_IS_GCC_COMPATIBLE ON)
add_compile_definitions("MLIR_PYTHON_PACKAGE_PREFIX=${MLIR_PYTHON_PACKAGE_PREFIX}.")

# Sets `result` to the folder that holds mlir/python and mlir/lib/Bindings/Python.
function(smalti_find_mlir_python_sources result)
  set(folder "${SMALTI_MLIR_SOURCES}")
  if(NOT folder)
    set(folder "$ENV{SMALTI_MLIR_SOURCES}")
  endif()
  if(NOT folder)
    set(folder "${CMAKE_SOURCE_DIR}/.cache/mlir-python-${LLVM_PACKAGE_VERSION}")
    if(NOT EXISTS "${folder}")
      execute_process(
        COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/cmake/fetch_mlir_python_sources.py"
                --version "${LLVM_PACKAGE_VERSION}" --cache "${CMAKE_SOURCE_DIR}/.cache"
        RESULT_VARIABLE status
        OUTPUT_QUIET)
      if(NOT status EQUAL 0)
        message(FATAL_ERROR "The sources of MLIR's Python bindings are missing; the message above says why.")
      endif()
    endif()
  endif()
  foreach(part mlir/python/CMakeLists.txt mlir/lib/Bindings/Python/MainModule.cpp)
    if(NOT EXISTS "${folder}/${part}")
      message(FATAL_ERROR "SMALTI_MLIR_SOURCES=${folder} holds no ${part} of LLVM ${LLVM_PACKAGE_VERSION}.")
    endif()
  endforeach()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# Copies mlir/ir.py, whose attribute builders use numpy. The copy imports numpy when a builder is called: a compilation calls
# none, and numpy takes longer to load than MLIR.
function(smalti_load_numpy_on_use source copy)
  file(READ "${source}" text)
  string(REPLACE "    import numpy as np\n" [[
    class _Numpy:
        def __getattr__(self, name):
            import numpy

            return getattr(numpy, name)

    np = _Numpy()
]] text "${text}")
  file(CONFIGURE OUTPUT "${copy}" CONTENT "${text}" @ONLY)
endfunction()

# Declares the source groups from sources. In a function, so that upstream's switches stay in this scope.
function(smalti_declare_mlir_python_sources)
  smalti_find_mlir_python_sources(sources)
  message(STATUS "MLIR Python bindings from ${sources}")

  # Upstream's list file expects the source tree's include folder next to python/.
  set(MLIR_SOURCE_DIR "${CMAKE_BINARY_DIR}/mlir_sources")
  file(COPY "${sources}/mlir/python" DESTINATION "${MLIR_SOURCE_DIR}" REGEX "/mlir/ir\\.py$" EXCLUDE)
  smalti_load_numpy_on_use("${sources}/mlir/python/mlir/ir.py" "${MLIR_SOURCE_DIR}/python/mlir/ir.py")
  file(COPY "${sources}/mlir/lib/Bindings/Python" DESTINATION "${MLIR_SOURCE_DIR}/lib/Bindings")
  file(CREATE_LINK "${MLIR_INSTALL_PREFIX}/include" "${MLIR_SOURCE_DIR}/include" SYMBOLIC)

  # Targets of the source tree that the list file names as dependencies.
  foreach(target acc_common_td omp_common_td LinalgOdsGen)
    if(NOT TARGET ${target})
      add_custom_target(${target})
    endif()
  endforeach()

  set(MLIR_BINARY_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  set(MLIR_BINDINGS_PYTHON_INSTALL_PREFIX "python_packages/mlir")
  set(MLIR_PYTHON_STUBGEN_ENABLED OFF)
  set(MLIR_INCLUDE_TESTS OFF)
  set(LLVM_INSTALL_TOOLCHAIN_ONLY ON)
  set(LLVM_ENABLE_IDE ON)
  list(PREPEND CMAKE_MODULE_PATH "${CMAKE_SOURCE_DIR}/cmake/declare_only")
  add_subdirectory("${MLIR_SOURCE_DIR}/python" mlir_python EXCLUDE_FROM_ALL)
endfunction()

if(TARGET MLIRPythonSources)
  message(STATUS "MLIR Python bindings as exported by ${MLIR_DIR}")
else()
  smalti_declare_mlir_python_sources()
endif()
include(AddMLIRPython)

# smalti_use_dylibs(<target>...)
#
# LLVM 22's bindings name the static archive LLVMSupport; a second LLVM must not come in with it.
function(smalti_use_dylibs)
  foreach(target ${ARGN})
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(libraries ${target} ${property})
      if(libraries)
        list(TRANSFORM libraries REPLACE "^LLVMSupport$" "LLVM")
        set_property(TARGET ${target} PROPERTY ${property} "${libraries}")
      endif()
    endforeach()
  endforeach()
endfunction()
