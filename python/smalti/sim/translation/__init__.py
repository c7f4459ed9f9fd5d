"""Translation of module ops to a program for the machine, and binding of arguments."""
