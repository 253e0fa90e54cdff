"""What stands on disk."""
