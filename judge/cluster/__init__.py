"""The Ray engine: one scoring job on the machines of a cluster."""
