"""The plugin has tests of its own; this is its place among the integrations."""

import judge.testing
from judge import Evaluator
from judge.integrations import pytest as plugin
from tests.rated import recipe


def test_it_is_the_plugin_and_its_recipe_runs() -> None:
    assert plugin.assert_faithful is judge.testing.assert_faithful
    recipe("pytest")["test_probation"](Evaluator())
