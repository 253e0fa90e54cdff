from judge.backends.retry import asked_wait

PAST = "Wed, 21 Oct 2015 07:28:00 GMT"
WAITS: dict[str, float | None] = {
    "3": 3.0,
    "0.25": 0.25,
    "0": 0.0,
    "-1": 0.0,
    "-inf": 0.0,
    "1e9": 1e9,
    "inf": float("inf"),
    "9" * 400: float("inf"),
    PAST: 0.0,
    PAST.replace("GMT", "-0000"): 0.0,
    "Wed Oct 21 07:28:00 2015": 0.0,
    "Wednesday, 21-Oct-15 07:28:00 GMT": 0.0,
    "nan": None,
    "soon": None,
    "": None,
    "Wed, 21 Oct 99999 07:28:00 GMT": None,
}


def test_how_long_to_wait() -> None:
    assert {asked: asked_wait(asked) for asked in WAITS} == WAITS


NOW = "Wed, 21 Oct 2015 07:27:00 GMT"
HELD: list[tuple[str, str, float]] = [
    # By the clock of this machine all of it is over.
    (PAST, NOW, 60.0),
    (PAST, "Wed Oct 21 07:27:00 2015", 60.0),
    (PAST, PAST, 0.0),
    (NOW, PAST, 0.0),
    (PAST, "noon", 0.0),
    (PAST, "", 0.0),
    ("3", NOW, 3.0),
]


def test_a_date_is_held_against_the_server_s_own() -> None:
    found = [(asked, date, asked_wait(asked, date)) for asked, date, _ in HELD]
    assert found == HELD
