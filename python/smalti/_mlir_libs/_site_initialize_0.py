# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registration of all upstream dialects and the dialects of Smalti in new MLIR contexts.

The bindings load this module when `smalti.ir` is first imported. Importing the extension registers the passes.
"""

from ._smalti import register_dialects

__all__ = ["register_dialects"]
