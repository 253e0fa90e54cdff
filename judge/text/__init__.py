"""Characters, words and pieces of text, for every floor above."""
