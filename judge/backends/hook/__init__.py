"""Review hooks: the code of others, called beside a run."""
