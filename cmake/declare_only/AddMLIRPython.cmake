# Upstream's list file of the bindings declares the source groups and then builds a package of its own. This module
# shadows upstream's while that file is read, so that the groups get declared and nothing gets built.

include("${MLIR_CMAKE_DIR}/AddMLIRPython.cmake")

function(add_mlir_python_common_capi_library)
endfunction()

function(add_mlir_python_modules)
endfunction()
