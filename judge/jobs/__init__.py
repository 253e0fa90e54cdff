"""Scoring jobs: samples into results and run folders; forecasts, checks and batches."""
