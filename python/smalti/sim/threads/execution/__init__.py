"""How programs of threads run: teams of warps, their memory, and the order of their accesses."""
