"""From the operations of a module to a program that the machine runs, and what a call gives to it."""
