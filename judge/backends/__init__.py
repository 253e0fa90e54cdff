"""The outside world, and what stands in for it."""
