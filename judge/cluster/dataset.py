"""Rows of a Ray dataset scored in a pipeline of the user's."""
