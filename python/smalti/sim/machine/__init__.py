"""The simulated machine: blocks, memory, barriers, asynchronous engines, and findings."""
