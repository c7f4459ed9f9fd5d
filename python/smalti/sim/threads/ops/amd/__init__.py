"""What only GPUs of AMD have."""
