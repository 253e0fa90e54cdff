"""What holds for all tests."""

from hypothesis import settings

# An example that is slow once, on a machine that has other work, is no failure.
settings.register_profile("house", deadline=None)
settings.load_profile("house")
