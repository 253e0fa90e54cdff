import pytest
from pydantic import JsonValue

from judge.config import Config
from judge.errors import ConfigError
from judge.records import Rules


def test_the_defaults_are_in_range_and_described() -> None:
    assert Config() == Config.model_validate(Config().model_dump())
    assert Config.model_validate_json(Config(prior=0.7).model_dump_json()) == Config(prior=0.7)
    assert all(field.description for field in Config.model_fields.values())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prior", 0),
        ("prior", 1.0),
        ("prior", float("nan")),
        ("prior", "high"),
        ("concurrency", 0),
        ("concurrency", 1.5),
        ("max_unscored", -0.1),
        ("max_unscored", 1.1),
        ("max_unscored", float("nan")),
        ("seed", -1),
        ("require_quotes", "perhaps"),
        ("citation_pattern", 3),
        ("citation_pattern", "(unclosed"),
    ],
)
def test_a_setting_out_of_range_is_named_with_its_value(name: str, value: JsonValue) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.model_validate({name: value})
    assert f"setting {name} = {value!r}: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_setting_is_named_and_the_known_ones_are_listed() -> None:
    with pytest.raises(ConfigError, match=r"unknown setting 'modle'; there are: .*concurrency"):
        Config.model_validate({"modle": "m"})


def test_the_limits_themselves_are_allowed() -> None:
    for settings in ({"max_unscored": 0}, {"max_unscored": 1}, {"concurrency": 1}, {"seed": 0}):
        assert Config.model_validate(settings)


def test_the_rules_are_the_part_about_reading() -> None:
    config = Config(prose_citations=True, citation_pattern=r"<(\d+)>", require_quotes=True)
    assert config.rules == Rules(
        prose_citations=True, citation_pattern=r"<(\d+)>", require_quotes=True
    )
    assert Config().rules == Rules()
