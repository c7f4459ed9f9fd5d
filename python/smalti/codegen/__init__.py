"""From LLVM IR to machine code."""
