import pytest

from tests.comparisons import comparison

Limits = tuple[float, float]


BY_HAND: list[tuple[str, str, float | None, float | None, float | None, Limits | None]] = [
    # Answer and reference; precision, recall, F1 and its bounds. (1 + ½ + 0)/3 and (1 + 0)/2.
    ("fpn", "fn", 0.5, 0.5, 0.5, (0.5, 0.5)),
    # The answer is right and covers a quarter of the reference: 2 · ¼ / 1¼.
    ("f", "fnnn", 1, 0.25, 0.4, (0.4, 0.4)),
    ("fnnn", "f", 0.25, 1, 0.4, (0.4, 0.4)),
    ("c", "nc", 0, 0, 0, (0, 0)),
    # A failure: precision 1 of 1, or 1 to 2 of 2; recall ½ of 1, or ½ to 1½ of 2.
    ("f?", "p?", 1, 0.5, 2 / 3, (1 / 3, 6 / 7)),
    ("f", "??", 1, None, None, (0, 1)),
    # An unknown recall could not change a precision of 0.
    ("n", "?", 0, None, 0, (0, 0)),
    ("?", "nn", None, 0, 0, (0, 0)),
    ("h", "n", None, 0, 0, (0, 0)),
    # It could: there is no precision; one more may be right, p up to ½ and r up to 1.
    ("h", "p", None, 0.5, None, None),
    ("n?", "?", 0, None, None, (0, 2 / 3)),
    ("p", "?", 0.5, None, None, (0, 2 / 3)),
    # An abstention has none of them.
    ("a", "h", None, None, None, None),
]


def test_precision_recall_and_f1_by_hand() -> None:
    for answer, reference, precision, recall, value, limits in BY_HAND:
        found = comparison(answer, reference)
        assert (found.precision, found.recall) == (precision, recall)
        assert found.f1 == (value and pytest.approx(value))
        assert found.f1_bounds == (limits and pytest.approx(limits))
        assert found.f1_with_fallback is None


def test_a_fallback_is_counted_in_only_where_it_is_said() -> None:
    rows = [("fN", "ny", 0, 0.5), ("f", "y", None, 1), ("yy", "y", None, 1)]
    for answer, reference, own, with_fallback in rows:
        found = comparison(answer, reference)
        assert (found.f1, found.f1_with_fallback) == (own, with_fallback)


def test_status() -> None:
    rows = [
        ("f", "", "no_reference"),
        ("a", "", "no_reference"),
        ("", "", "no_reference"),
        ("ha", "h", "abstained"),
        ("", "h", "no_claims"),
        ("h", "a", "no_claims"),
        ("-", "-", "no_claims"),
        ("?", "??", "unscored"),
        ("-", "?", "unscored"),
        ("yy", "y", "unscored"),
        ("?", "f", "scored"),
        ("fa", "f", "scored"),
    ]
    found = [(*pair, comparison(*pair).status.value) for *pair, _ in rows]
    assert found == rows
