"""The HTTP service: one door to the evaluator. A batch is a run folder; see README.md here."""
