"""From an answer to its sentences and citations."""
