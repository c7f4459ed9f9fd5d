"""AMD-specific ops."""
