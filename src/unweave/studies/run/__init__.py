"""A study run to its end: claims, workers, results kept as files."""
