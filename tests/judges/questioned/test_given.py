from judge.judges.questioned.given import parted, take

OFFICE = "How many people work in the Lisbon office?"


def test_a_sentence_falls_into_what_its_question_says_and_what_is_new() -> None:
    given = take(OFFICE)
    assert given is not None
    told, new = parted("The Lisbon office has 214 engineers.", given)
    assert [token.key for token in told] == ["lisbon", "offic"]
    assert [token.key for token in new] == ["#214", "engin"]


def test_where_one_denies_all_is_new() -> None:
    given = take(OFFICE)
    assert given is not None
    told, new = parted("Nobody works in the Lisbon office.", given)
    assert told == []
    assert [token.key for token in new] == ["nobodi", "lisbon", "offic"]


def test_what_proposes_takes_nothing_for_granted() -> None:
    assert take("Do 214 people work in the Lisbon office?") is None
    assert take(" ") is None
