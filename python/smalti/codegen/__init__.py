"""Code generation: from LLVM IR to machine code."""
