"""Judges: one shape, several makers."""
