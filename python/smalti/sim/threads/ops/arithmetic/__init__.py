"""Numbers, vectors and structures of LLVM."""
