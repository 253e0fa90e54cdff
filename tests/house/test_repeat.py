"""`--repeat`: what is doubtful is asked again over real HTTP, and the majority decides."""

from collections.abc import Sequence
from pathlib import Path

from judge import SampleResult, Verdict
from judge.inputs.runs import read_summary
from judge.records import FlagName
from tests import present
from tests.chat_call import ChatCall
from tests.commands import judge, line, results, write
from tests.replies import Answer, Says, Script, packed, right, verdict
from tests.server import JudgeServer

CHUNKS = {
    "a": "Room 1 opens at seven in the morning.",
    "b": "Room 2 opens at eight in the morning.",
    "c": "Room 3 opens at nine in the morning.",
}
ANSWER = "Room 1 opens at seven [1]. Room 2 opens at eight."
BROKEN = "I would say yes."


def saying(labels: Sequence[str], sentence: str = "s1") -> Script:
    """Label one sentence differently for each repeat, by its seed, and all others `full`."""

    def script(call: ChatCall) -> Answer:
        if call.is_probe:
            return right(call)
        seed = call.body["seed"]
        assert isinstance(seed, int)
        label = labels[seed - 7]
        if label == "broken":
            return Says(BROKEN)
        quote = "nowhere in any of the chunks" if label == "unverified" else None
        own = "full" if quote else label
        others = [verdict(call, each) for each in call.ids if each != sentence]
        return Says(packed([verdict(call, sentence, own, quote), *others]))

    return script


def samples(place: Path, *answers: str) -> Path:
    return write(place / "in.jsonl", [line(f"q{n}", a, CHUNKS) for n, a in enumerate(answers)])


def score(server: JudgeServer, *words: object, code: int | None = 0) -> None:
    ran = judge("score", "in.jsonl", "-o", "run", *server.words, *words)
    assert code in {None, ran.code}, ran


def first() -> tuple[Verdict, SampleResult]:
    result = results(Path("run"))[0]
    outcome = result.sentences[0].outcome
    assert isinstance(outcome, Verdict)
    return outcome, result


# The labels of the repeats, the decided label, and whether it is flagged.
ASKINGS: list[tuple[str, str, bool]] = [
    ("partial full full", "full", True),
    ("partial full partial", "partial", True),
    ("partial partial partial", "partial", False),
    # A tie keeps the first label.
    ("partial full none", "partial", True),
    ("partial full full none none", "partial", True),
    ("partial full full none", "full", True),
    # What fails is no vote.
    ("partial broken full", "partial", True),
    ("contradicted full broken full", "full", True),
    # A clear verdict is not repeated.
    ("full none none", "full", False),
    ("none full full", "none", False),
    ("broken full full", "", False),
]


def test_the_majority_decides(place: Path) -> None:
    rows = [(labels.split(), label, flipped) for labels, label, flipped in ASKINGS]

    def script(call: ChatCall) -> Answer:
        """Label an answer by its row. The question is the row's number."""
        words, *_ = rows[0 if call.is_probe else int(call.question)]
        return saying(words)(call)

    for many in (3, 4, 5):
        chosen = {n: row for n, row in enumerate(rows) if len(row[0]) == many}
        write(place / "in.jsonl", [line(f"q{n}", ANSWER, CHUNKS, str(n)) for n in chosen])
        with JudgeServer(script) as server:
            score(server, "--repeat", many, "--no-cache", "--no-fallback", "--force", code=None)
            sent = [each for each in server.requests if not (each.is_probe or each.again)]
        if many == 3:
            repeats = present(read_summary(place / "run").repeats)
            # By hand, of the rows with three words whose first is doubtful: one only changed.
            counts = (repeats.asked_again, repeats.compared, repeats.flipped, repeats.changed)
            assert (counts, repeats.failed) == ((5, 5, 4, 1), {"malformed": 1})
        for (n, (words, label, flipped)), result in zip(
            chosen.items(), results(Path("run")), strict=True
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
                votes = tuple("malformed" if word == "broken" else word for word in words)
                assert (outcome.support, outcome.askings) == (label, votes if often > 1 else ())
                assert outcome.signature.endswith(f"|repeat:{many}")


def test_repeats_are_cached(place: Path) -> None:
    samples(place, ANSWER, "Room 2 opens at eight.")
    script = saying(["partial", "full", "full", "none"])
    with JudgeServer(script) as server:
        for wanted, new in ((1, 2), (2, 2), (4, 4), (4, 0), (3, 0)):
            before = server.calls
            score(server, "--repeat", wanted, "--force")
            assert server.calls - before == new, f"{wanted}: two answers, each so often"
            outcome, _ = first()
            assert outcome.support == ("full" if wanted > 2 else "partial")


def test_a_budget_may_end_in_a_repeat(place: Path) -> None:
    samples(place, ANSWER)
    with JudgeServer(saying(["partial", "full", "full"])) as server:
        score(server, "--no-cache")
        spent = server.prompt_tokens + server.reply_tokens
        words = ("--repeat", 3, "--max-tokens", round(1.5 * spent), "--force")
        score(server, *words, code=4)
        assert server.calls == 2, "one before, and the first asking"
        outcome, _ = first()
        assert (outcome.support, outcome.askings) == ("partial", ("partial", "budget", "budget"))
        summary = read_summary(place / "run")
        assert (summary.over_budget, summary.untrusted, summary.unscored) == (True, False, {})
        score(server, "--repeat", 3, "--force")
        assert server.calls == 4, "the repeats alone"
    assert first()[0].support == "full"
