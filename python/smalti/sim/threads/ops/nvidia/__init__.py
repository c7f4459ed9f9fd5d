"""What only GPUs of NVIDIA have."""
