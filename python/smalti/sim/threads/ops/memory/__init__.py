"""Accesses of memory."""
