"""Which measures fit, and what they mean."""
