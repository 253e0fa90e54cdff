"""The judge that is not asked about what the question already says: for bare references."""

from collections.abc import Iterable, Iterator

from judge.checks.assent import proposal
from judge.judges.questioned.bare import answered, reread
from judge.judges.questioned.given import said, take
from judge.judges.questioned.verbatim import verbatim
from judge.protocols import Judge
from judge.records import JudgeRequest, Judgment
from judge.signature import Signature


class QuestionedJudge:
    """Takes as said what the question says, and has another judge judge the rest of a sentence.

    "The capital of France is Lyon." does not follow from "Paris", nor does "… is Paris.", for a
    judge that sees texts only. Asked for the capital of France, all that either says is the name.
    So the words of the question are marked as no part of the claim, as citation markers are. Shown
    to the judge as evidence instead, they would speak for the wrong answer as for the right one.

    A question that can be answered by yes or no, that offers a choice or asks for a comparison
    gives nothing, nor does a query of more than 400 characters: the request goes through
    unchanged. So does a sentence that says nothing new, and one that denies where the question
    does not, or the other way round: it is at odds with what the question says. Of a sentence that
    adds only numbers, these are judged alone.

    What the inner judge cannot see is read off the words: figures that are the same in another
    unit; a `full` of similarity that rests on one character of a Chinese word, or on a name that
    differs by one; what stands there word for word and tells it nothing; a number that is missing
    where only numbers are new; a clause that denies what was asked; and whether two answers to a
    question of yes or no agree, where one of them is no more than that.

    It is for judges that read `markers` and not the question: similarity, inference.

    Args:
        inner: judges what is new.
    """

    def __init__(self, inner: Judge) -> None:
        self._inner = inner

    @property
    def signature(self) -> str:
        """The inner judge's, and that words of the question are given."""
        return str(Signature.parse(self._inner.signature).having("question:given"))

    async def judge(self, request: JudgeRequest) -> Judgment:
        """The inner judge's judgment of what is new in each sentence.

        Raises:
            JudgeUnavailable: from the inner judge.
        """
        given = take(request.query)
        if given is None:
            judgment = verbatim(request, await self._inner.judge(request))
            asked = proposal(request.query)
            return judgment if asked is None else answered(request, judgment, asked)
        known = [
            (sentence.start + start, sentence.start + end)
            for sentence in request.sentences
            for start, end in said(sentence.text, given)
        ]
        markers = tuple(_apart([*request.markers, *known]))
        judgment = await self._inner.judge(request.model_copy(update={"markers": markers}))
        return verbatim(request, reread(request, judgment, given))


def _apart(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans in order, those that overlap as one."""
    held: tuple[int, int] | None = None
    for start, end in sorted(spans):
        if held is not None and start < held[1]:
            held = held[0], max(held[1], end)
            continue
        if held is not None:
            yield held
        held = start, end
    if held is not None:
        yield held
