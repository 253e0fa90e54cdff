"""Past one machine: the same evaluator in the actors of a Ray cluster."""
