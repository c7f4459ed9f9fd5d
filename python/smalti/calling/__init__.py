"""Arguments of a kernel call: arrays, scalars and tensor maps."""
