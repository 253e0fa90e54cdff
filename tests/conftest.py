"""What holds for all tests."""

from hypothesis import settings

# An example that is slow once, on a machine that has other work, is no failure. Half the usual
# number of examples: every run of every session draws others.
settings.register_profile("house", deadline=None, max_examples=50)
settings.load_profile("house")
