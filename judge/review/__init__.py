"""Verdicts sampled for people, and what their labels say of the judge."""
