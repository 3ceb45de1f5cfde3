"""A method, a metric, a data set and an architecture for unweave."""
