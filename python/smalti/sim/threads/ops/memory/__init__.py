"""Memory accesses."""
