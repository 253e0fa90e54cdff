import re
from collections.abc import Iterator
from string import Formatter

from judge.advice.catalog import measure
from judge.advice.recommend.advising import needs
from judge.advice.recommend.table import Words, table

HAN = re.compile(r"[\u4e00-\u9fff]")
CUTS = {"small": 1, "k": 2, "wide": 3, "large": 4, "depth": 5, "pool": 6}


def texts() -> Iterator[Words]:
    rules = table()
    yield from (*rules.scenario, *rules.advice, *rules.note)
    yield from (*rules.reason.values(), *rules.words.values())
    for family in rules.family.values():
        yield from (family.fits, family.lacks)


def figures(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_every_text_stands_in_both_languages_with_the_same_figures() -> None:
    for text in texts():
        assert text.en
        assert not HAN.search(text.en), text.en
        assert text.zh
        assert HAN.search(text.zh) or len(text.zh) < 20, text.zh
        assert figures(text.en) == figures(text.zh), text.en


def test_every_measure_is_in_the_catalog_and_every_reason_in_the_table() -> None:
    named = set()
    for rule in table().advice:
        for stated in (rule.primary, rule.secondary, rule.supplementary, rule.avoid):
            for name, reason in stated or ():
                assert measure(re.sub(r"@k\Z", "@1", name.format(**CUTS))).family == "retrieval"
                named.add(reason)
    assert named == set(table().reason)


def test_rules_have_names_of_their_own() -> None:
    names = [row.rule for row in table().scenario] + [row.rule for row in table().advice]
    assert len(set(names)) == len(names)


def test_every_family_of_the_catalog_but_retrieval_has_its_rule() -> None:
    assert set(needs()) <= set(table().family)


def test_every_scenario_has_a_row_of_each_role() -> None:
    first = {
        row.when["scenario"][0]: row for row in table().advice if set(row.when) == {"scenario"}
    }
    assert set(first) == {row.scenario for row in table().scenario}
    for row in first.values():
        assert row.primary
        assert row.secondary
        assert row.supplementary is not None


def test_no_text_says_more_than_holds_of_all_data() -> None:
    # With two relevant and one found, hit is 1 and recall a half; few queries may differ for cause.
    for text in texts():
        for claim in ("says all that", "however far", "is 1 for all", "are chance", "with theirs"):
            assert claim not in text.en
