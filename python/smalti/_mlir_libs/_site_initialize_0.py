"""What every new MLIR context of this package knows: all upstream dialects and Smalti's.

The bindings load this module once, when `smalti.ir` is first imported; importing the extension registers the passes.
"""

from ._smalti import register_dialects

__all__ = ["register_dialects"]
