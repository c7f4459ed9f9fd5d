"""Collective ops of any GPU."""
