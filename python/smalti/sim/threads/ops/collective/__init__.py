"""What threads do together, on any GPU."""
