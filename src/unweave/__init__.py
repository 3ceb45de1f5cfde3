"""unweave: learn, measure and look at disentangled representations of images."""
