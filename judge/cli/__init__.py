"""The command line: parses, calls, prints. No score is computed here."""
