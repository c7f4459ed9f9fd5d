"""The modules of tools/dev.

They need only the standard library, because tools/dev runs before packages are installed.
"""
