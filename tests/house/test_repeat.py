"""`--repeat`: what is doubtful is asked again over real HTTP, and the majority decides."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge import SampleResult, Verdict
from judge.files.runs import read_summary
from judge.records import FlagName
from tests import faults
from tests.asked import Asked
from tests.commands import judge, line, results, write
from tests.provider import BatchProvider
from tests.replies import Answer, Hang, Says, Script, calls, packed, picky, right, verdict, verdicts
from tests.server import JudgeServer

CHUNKS = {
    "a": "Room 1 opens at seven in the morning.",
    "b": "Room 2 opens at eight in the morning.",
    "c": "Room 3 opens at nine in the morning.",
}
ANSWER = "Room 1 opens at seven [1]. Room 2 opens at eight."
BROKEN = "I would say yes."


def saying(labels: Sequence[str], sentence: str = "s1") -> Script:
    """Of a sentence one label an asking, told by its seed; all others are `full`."""

    def script(asked: Asked) -> Answer:
        if asked.is_probe:
            return right(asked)
        seed = asked.body["seed"]
        assert isinstance(seed, int)
        label = labels[seed - 7]
        if label == "broken":
            return Says(BROKEN)
        quote = "nowhere in any of the chunks" if label == "unverified" else None
        own = "full" if quote else label
        others = [verdict(asked, each) for each in asked.ids if each != sentence]
        return Says(packed([verdict(asked, sentence, own, quote), *others]))

    return script


def samples(place: Path, *answers: str) -> Path:
    return write(place / "in.jsonl", [line(f"q{n}", a, CHUNKS) for n, a in enumerate(answers)])


def score(server: JudgeServer, *words: object, into: str = "run", code: int | None = 0) -> str:
    ran = judge("score", "in.jsonl", "-o", into, *server.words, *words)
    assert code in {None, ran.code}, ran
    return ran.out


def first(run: str = "run") -> tuple[Verdict, SampleResult]:
    result = results(Path(run))[0]
    outcome = result.sentences[0].outcome
    assert isinstance(outcome, Verdict)
    return outcome, result


# What the askings say; what is decided; whether it is flagged.
ASKINGS: list[tuple[str, str, bool]] = [
    ("partial full full", "full", True),
    ("partial full partial", "partial", True),
    ("partial partial partial", "partial", False),
    ("contradicted none none", "none", True),
    # A tie keeps the first, whoever else is among those tied.
    ("partial full none", "partial", True),
    ("partial full", "partial", True),
    ("partial full full none none", "partial", True),
    ("partial full full none", "full", True),
    # What fails is no vote.
    ("partial broken full", "partial", True),
    ("partial broken broken", "partial", False),
    ("contradicted full broken full", "full", True),
    # What is not doubtful is asked once.
    ("full none none", "full", False),
    ("none full full", "none", False),
    ("no_claim full full", "no_claim", False),
    ("broken full full", "", False),
]


def test_the_majority_decides(place: Path) -> None:
    rows = [(said.split(), label, flipped) for said, label, flipped in ASKINGS]

    def script(asked: Asked) -> Answer:
        """Of an answer what its row says, whose number stands in the question."""
        words, *_ = rows[0 if asked.is_probe else int(asked.question)]
        return saying(words)(asked)

    for many in (2, 3, 4, 5):
        asked = {n: row for n, row in enumerate(rows) if len(row[0]) == many}
        write(place / "in.jsonl", [line(f"q{n}", ANSWER, CHUNKS, str(n)) for n in asked])
        with JudgeServer(script) as server:
            score(server, "--repeat", many, "--no-cache", "--no-fallback", "--force", code=None)
            sent = [each for each in server.requests if not (each.is_probe or each.again)]
        for (n, (words, label, flipped)), result in zip(
            asked.items(), results(Path("run")), strict=True
        ):
            often = many if words[0] in {"partial", "contradicted"} else 1
            seeds = [each.body["seed"] for each in sent if each.question == str(n)]
            assert seeds == list(range(7, 7 + often)), words
            assert result.signature.endswith(f"|repeat:{many}")
            flags = [flag.sentence for flag in result.flags if flag.name is FlagName.FLIPPED]
            assert flags == [0] * flipped, words
            outcome = result.sentences[0].outcome
            assert isinstance(outcome, Verdict) is bool(label), words
            if isinstance(outcome, Verdict):
                told = tuple("malformed" if word == "broken" else word for word in words)
                assert (outcome.support, outcome.askings) == (label, told if often > 1 else ())
                assert outcome.signature.endswith(f"|repeat:{many}")


def test_support_without_its_quote_is_asked_again_and_a_quote_that_is_found_kept(
    place: Path,
) -> None:
    samples(place, ANSWER)
    for said, kept in (("unverified full", True), ("unverified unverified", False)):
        with JudgeServer(saying(said.split())) as server:
            score(server, "--repeat", 2, "--no-cache", "--force")
        outcome, result = first()
        assert (outcome.support, outcome.askings) == ("full", ("full", "full"))
        assert outcome.backed is kept
        names = {flag.name.value for flag in result.flags}
        assert ("unverified_quote" in names, "flipped" in names) == (not kept, False)


def test_quotes_and_citations_are_those_of_the_sample_in_whatever_order_it_was_shown(
    place: Path,
) -> None:
    def script(asked: Asked) -> Answer:
        """At first in doubt; then `full`, by the number under which the chunk was shown."""
        if asked.is_probe or asked.body["seed"] == 7:
            return Says(verdicts(asked, "partial", "not in there at all"))
        listed: list[dict[str, JsonValue]] = []
        for name, text in asked.sentences.items():
            number = next(n for n, each in enumerate(asked.chunks, 1) if text[:6] in each)
            evidence: JsonValue = [{"chunk": number, "quote": asked.chunks[number - 1]}]
            cited = "full" if number in asked.cites[name] else "none"
            own: dict[str, JsonValue] = {"supporting": [number], "cited_support": cited}
            listed.append(verdict(asked, name) | own | {"evidence": evidence})
        return Says(packed(listed))

    samples(place, "Room 3 opens at nine [3]. Room 1 opens at seven [2].")
    with JudgeServer(script) as server:
        score(server, "--repeat", 3)
        orders = {tuple(each.chunks) for each in server.requests[1:]}
        cited = [[each.chunks[n - 1] for n in each.cites["s1"]] for each in server.requests[1:]]
    assert len(orders) == 3, "each asking shows them otherwise"
    assert cited == [[CHUNKS["c"]]] * 3
    outcome, result = first()
    assert outcome.supporting == ("c",)
    (evidence,) = outcome.evidence
    assert (evidence.chunk_id, evidence.quote, evidence.verified) == ("c", CHUNKS["c"], True)
    assert [each.status for each in result.citations] == ["valid", "unsupported"]
    assert [flag.sentence for flag in result.flags if flag.name == "flipped"] == [0, 1]


def test_what_was_asked_is_never_asked_again(place: Path) -> None:
    samples(place, ANSWER, "Room 2 opens at eight.")
    said = saying(["partial", "full", "full", "none"])
    with JudgeServer(said) as server:
        for wanted, new in ((1, 2), (2, 2), (4, 4), (4, 0), (3, 0)):
            before = server.calls
            score(server, "--repeat", wanted, "--force")
            assert server.calls - before == new, f"{wanted}: two answers, each so often"
            outcome, _ = first()
            assert outcome.support == ("full" if wanted > 2 else "partial")


def test_asked_once_nothing_is_other_than_without_the_option(place: Path) -> None:
    samples(place, ANSWER)
    with JudgeServer(saying(["partial"])) as server:
        score(server)
        score(server, "--repeat", 1, into="one")
    for run in ("run", "one"):
        text = (place / run / "results.jsonl").read_text()
        assert ("askings" in text, "repeat" in text) == (False, False)
        assert read_summary(place / run).repeats is None
    one, two = (results(place / run)[0].model_copy(update={"calls": ()}) for run in ("run", "one"))
    assert one == two


def test_a_server_that_takes_no_seed_is_shown_another_order_alone(place: Path) -> None:
    samples(place, ANSWER)
    refused = {"seed": faults.error(400, "Unsupported parameter: 'seed'.", "seed")}
    numbered = calls(*(lambda asked, s=s: Says(verdicts(asked, s)) for s in ("partial", "full")))
    with JudgeServer(picky(refused, numbered)) as server:
        score(server, "--repeat", 3)
        asked = server.requests[-3:]
        assert all("seed" not in each.body for each in asked)
        assert len({tuple(each.chunks) for each in asked}) == 3
        score(server, "--repeat", 3, "--force")
        assert server.calls == 3, "each stands in the cache by itself"
    outcome, result = first()
    assert outcome.askings == ("partial", "full", "full")
    assert "|seed:none|" in result.signature


def test_a_seed_of_ones_own_is_counted_up(place: Path) -> None:
    samples(place, ANSWER)
    with JudgeServer(calls(lambda asked: Says(verdicts(asked, "partial")))) as server:
        score(server, "--repeat", 2, "--extra-body", '{"seed": 40}')
        assert [each.body["seed"] for each in server.requests[1:]] == [40, 41]


def test_a_budget_that_ends_in_a_repeat_is_told(place: Path) -> None:
    samples(place, ANSWER)
    with JudgeServer(saying(["partial", "full", "full"])) as server:
        score(server, "--no-cache")
        spent = server.prompt_tokens + server.reply_tokens
        words = ("--repeat", 3, "--max-tokens", round(1.5 * spent), "--force", "--details")
        said = " ".join(score(server, *words, code=4).split())
        assert server.calls == 2, "one before, and the first asking"
        assert "the budget is spent: 2 repeats were not asked" in said
        assert "asked again 1: 0 of 0 flipped (–), 0 changed their label" in said
        outcome, _ = first()
        assert (outcome.support, outcome.askings) == ("partial", ("partial", "budget", "budget"))
        summary = read_summary(place / "run")
        assert (summary.over_budget, summary.untrusted, summary.unscored) == (True, False, {})
        score(server, "--repeat", 3, "--force")
        assert server.calls == 4, "the repeats alone"
    assert first()[0].support == "full"


def test_the_time_of_an_answer_is_that_of_all_its_askings(place: Path) -> None:
    samples(place, ANSWER)

    def script(asked: Asked) -> Answer:
        return Hang() if asked.body["seed"] == 8 else saying(["partial"])(asked)

    with JudgeServer(script) as server:
        score(server, "--repeat", 3, "--deadline", 0.8, "--no-cache")
        assert server.calls == 2, "after the deadline nobody is asked"
    assert first()[0].askings == ("partial", "timeout", "timeout")
    assert read_summary(place / "run").unscored == {}


def test_windows_are_asked_again_in_another_order(place: Path) -> None:
    chunks = {f"c{n}": f"Room {n} opens at seven. " + f"Word {n}. " * 150 for n in range(4)}
    write(place / "in.jsonl", [line("q", "Room 2 opens at seven.", chunks)])
    said = {7: "partial", 8: "contradicted", 9: "contradicted"}

    def script(asked: Asked) -> Answer:
        seed = asked.body.get("seed")
        return right(asked) if asked.is_probe else Says(verdicts(asked, said[int(str(seed))]))

    with JudgeServer(script) as server:
        score(server, "--repeat", 3, "--max-evidence-tokens", 800)
        shown = [
            [
                text
                for each in server.requests[1:]
                if each.body["seed"] == seed
                for text in each.chunks
            ]
            for seed in said
        ]
    assert [len(each) for each in shown] == [4, 4, 4]
    assert sorted(shown[0]) == sorted(shown[1]) == sorted(shown[2])
    assert len({tuple(each) for each in shown}) == 3
    assert first()[0].askings == ("partial", "contradicted", "contradicted")


def test_the_totals_and_one_answer_tell_what_came_of_it(place: Path) -> None:
    samples(place, ANSWER, "Room 2 opens at eight.", "Room 3 opens at nine.", "Room 1 is here.")
    told = {
        "Room 1 opens at seven [1].": ("partial", "full", "partial"),
        "Room 2 opens at eight.": ("contradicted", "full", "full"),
        "Room 3 opens at nine.": ("partial", "broken", "broken"),
        "Room 1 is here.": ("full",),
    }

    def script(asked: Asked) -> Answer:
        if asked.is_probe:
            return right(asked)
        at = int(str(asked.body["seed"])) - 7
        labels = {
            name: told[text][at] for name, text in asked.sentences.items() if name in asked.ids
        }
        if "broken" in labels.values():
            return Says(BROKEN)
        return Says(verdicts(asked, **labels))

    with JudgeServer(script) as server:
        said = " ".join(score(server, "--repeat", 3, "--details").split())
        chinese = score(server, "--repeat", 3, "--details", "--force", "--lang", "zh")
    summary = read_summary(place / "run")
    assert summary.repeats is not None
    # Room 2 stands in two answers; of room 3 no repeat came, so it cannot have flipped.
    assert summary.repeats.model_dump(mode="json") == {
        "asked_again": 4,
        "compared": 3,
        "flipped": 3,
        "flip_rate": 1.0,
        "changed": 2,
        "failed": {"malformed": 2},
    }
    assert summary.flags[FlagName.FLIPPED] == 3
    assert "asked again 4: 3 of 3 flipped (1.000), 2 changed their label; repeats without" in said
    assert "重问 4：3 句中 3 句说法不一（1.000），2 句改判" in " ".join(chinese.split())
    shown = judge("show", "run", "q0").out
    assert "asked 3 times: partial, full, partial" in shown
    assert "flag flipped  asked again, the judge said otherwise" in shown
    assert (
        "问了 3 次：部分支持，格式有误，格式有误" in judge("show", "run", "q2", "--lang", "zh").out
    )
    assert "asked" not in judge("show", "run", "q3").out
    listed = judge("show", "run", "--flag", "flipped").out
    assert "3 in " in listed or "of 3" in listed


def test_a_forecast_says_what_asking_again_may_add(place: Path) -> None:
    samples(place, *(f"Room {n} opens at seven." for n in range(10)))
    prices = ("--input-price", 1, "--output-price", 1)
    with JudgeServer(calls(lambda asked: Says(verdicts(asked, "partial")))) as server:
        plain = score(server, "--dry-run", *prices).splitlines()
        said = score(server, "--dry-run", "--repeat", 3, *prices).splitlines()
        assert server.requests == []
        assert said[:4] == plain[:4], "the first asking costs what it costs"
        more = " ".join(" ".join(said).split())
        assert "again 20 more calls at most (--repeat 3), about " in more
        assert "cost about 0.0" in more
        score(server)
        later = score(server, "--dry-run", "--repeat", 3)
        assert "again    20 more calls" in later, "what is kept is known to be doubtful"
        score(server, "--repeat", 3, "--force")
        assert server.calls == 30
        assert "again    0 more calls" in score(server, "--dry-run", "--repeat", 3)


def test_a_batch_brings_repeats_in_a_round_of_their_own(place: Path) -> None:
    source = samples(place, ANSWER)
    with BatchProvider(saying(["partial", "full", "full"])) as server:
        words = ("batch", "write", source, "-o", "night", *server.words, "--repeat", 3)
        for requests in (1, 2):
            assert f": {requests} request" in judge(*words).out
            for step in ("send", "status", "fetch", "read"):
                assert judge("batch", step, "night").code == 0
        assert "nothing is left to ask" in judge(*words).out
        score(server, "--repeat", 3)
        assert server.calls == 0
    assert first()[0].askings == ("partial", "full", "full")
    refused = {"seed": faults.error(400, "Unsupported parameter: 'seed'.", "seed")}
    with BatchProvider(live=picky(refused)) as server:
        ran = judge("batch", "write", source, "-o", "blind", *server.words, "--repeat", 3)
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran
    assert "repeat 3: tiny takes no seed" in ran.err


# Settings, and what the one line says.
REFUSED: list[tuple[Mapping[str, str], str]] = [
    ({"--repeat": "0"}, "repeat = 0"),
    ({"--repeat": "21"}, "repeat = 21"),
    ({"--repeat": "3", "--judge": "similarity"}, "only a language model is asked again"),
]


@pytest.mark.usefixtures("server")
def test_what_cannot_be_is_one_line(place: Path) -> None:
    samples(place, ANSWER)
    for options, told in REFUSED:
        words = [word for pair in options.items() for word in pair]
        ran = judge("score", "in.jsonl", *words)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
        assert told in ran.err
