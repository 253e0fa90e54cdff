from judge.pages.agreement.quality import quality
from judge.pages.agreement.words import Words
from tests.pages.agreement.findings import BARE, RICH

ENGLISH = Words("en")


def shown(**changes: object) -> str:
    made = quality(RICH.model_copy(update=changes), ENGLISH)
    return made.replace("\N{NO-BREAK SPACE}", " ").replace("&#x27;", "'")


def test_every_figure_stands_beside_its_name() -> None:
    made = shown()
    for name, value in {
        "Agreement": "88.4 % (81.2–93.1 %)",
        "Cohen's κ": "0.716",
        "Base rate": "61.2 %",
        "Krippendorff's α": "0.812",
        "Brier score": "0.081",
        "Calibration error": "0.032",
    }.items():
        assert f'<dt>{name}</dt><dd><strong><span class="figure">{value}</span>' in made
    assert "Read κ with it" in made
    assert "over 66 labels; they tell as much as 40 drawn one by one" in made
    assert "where several labelled one sentence: 12 sentences." in made


def test_every_label_has_its_counts_and_shares() -> None:
    made = shown()
    assert (
        '<th scope="row" role="rowheader">full support</th>'
        '<td role="cell" data-label="Judge said">30</td>'
        '<td role="cell" data-label="People said">27</td>'
    ) in made
    assert "85.7 % (70.0–94.0 %)" in made
    assert "not measured: the judge called nothing so" in made
    assert "not measured: people called nothing so" in made


def test_one_is_not_several() -> None:
    made = shown(compared=1, shared=1)
    assert "over 1 label;" in made
    assert "one sentence: 1 sentence." in made


def test_what_is_missing_says_why_and_is_no_zero() -> None:
    made = quality(BARE, ENGLISH)
    assert made.count("not measured: no label stands beside a verdict of the judge") == 3
    assert made.count("not measured: the judge gave no probability") == 2
    assert "no sentence was labelled by several reviewers" in made
    assert "<table" not in made
    assert "0.0" not in made
    same = shown(kappa=None, alpha=None)
    assert "not measured: judge and people always say one and the same label" in same
    assert "not measured: all reviewers always say one and the same label" in same


def test_nought_is_a_figure() -> None:
    assert shown(kappa=0.0, brier=0.0).count('<span class="figure">0.000</span>') == 2


def test_worse_than_chance_bears_a_minus_sign() -> None:
    made = shown(kappa=-0.125, alpha=-0.0004)
    assert '<span class="figure">\N{MINUS SIGN}0.125</span>' in made
    # What rounds to nothing has no sign.
    assert '<span class="figure">0.000</span>' in made
