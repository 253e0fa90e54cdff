"""Pure numbers: each measure one function of its arguments."""
