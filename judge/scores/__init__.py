"""From outcomes to numbers."""
