"""NVIDIA-specific ops."""
