"""The simulated machine: blocks, memory, barriers, engines, and what is found while a program runs."""
