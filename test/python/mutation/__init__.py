"""The mutation fuzzer: every `.mlir` file of the tree, mutated, through every pass and the check against the reference."""
