"""What a call of a kernel takes: its arguments, arrays and tensor maps."""
