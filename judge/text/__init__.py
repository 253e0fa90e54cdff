"""Characters, words, numbers: what every floor above reads text with."""
