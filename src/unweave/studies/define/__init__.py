"""From a study file to its runs: read, checked, expanded."""
