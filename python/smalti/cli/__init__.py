"""The command line, `smalti`."""
