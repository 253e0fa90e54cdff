"""Results and totals, arranged for a reader."""
