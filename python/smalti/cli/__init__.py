"""Command line of Smalti."""
