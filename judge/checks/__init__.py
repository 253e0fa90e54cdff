"""What code can check without a model."""
