"""What the labels of a classifier of pairs mean, and probabilities from logits."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from judge.errors import ConfigError
from judge.records import Relation

# As in configs of models for MNLI, XNLI, OCNLI and FEVER, and of those that tell what is grounded.
_NAMES: Final = {
    "entailed": "entailment entailed entails entail supported supports support consistent faithful"
    " factual grounded attributable true yes 蕴含 蕴涵 支持 一致 真 是",
    "contradicted": "contradiction contradicted contradicts contradict contradictory refuted"
    " refutes refute 矛盾 反驳",
    "neither": "neutral false no hallucination hallucinated notenoughinfo notenoughinformation nei"
    " extrapolatory 中立 中性 无关 假 否",
}
_MEANS: Final = {name: role for role, names in _NAMES.items() for name in names.split()}
# Before a name of entailment each of these makes its opposite.
_NEGATIONS: Final = ("non", "not", "no", "un", "in", "不", "非", "未")
# Models made without names: of two labels the second is the one trained on as 1, that is, as yes.
_UNNAMED: Final = (("label0", "label1"), ("label0",))


class Roles(NamedTuple):
    """Where in a row of logits the answers stand."""

    entailed: int
    contradicted: int | None


def read_labels(id2label: Mapping[int, str]) -> Roles:
    """The roles of the labels, in whatever order and spelling they come.

    Two labels, such as consistent and inconsistent, tell nothing of contradiction: what is not
    supported may be merely absent.

    Raises:
        ConfigError: the names do not say which is entailment, or the only one is contradiction.

    >>> read_labels({0: "CONTRADICTION", 1: "Neutral", 2: "entailment"})
    Roles(entailed=2, contradicted=0)
    """
    names = _plain(id2label)
    if tuple(names) in _UNNAMED:
        return Roles(1, None)
    roles = [_role(name) for name in names]
    if len(roles) == 1 and roles[0] in {"entailed", "neither"}:
        return Roles(int(roles[0] == "entailed"), None)
    if roles.count("entailed") != 1 or roles.count("contradicted") > 1 or "" in roles:
        raise ConfigError(
            f"its labels ({_told(id2label)}) do not say which means that the passage entails the "
            "sentence; where you know, name them entailment, neutral and contradiction in id2label "
            "of its config.json"
        )
    contradicted = roles.index("contradicted") if "contradicted" in roles else None
    return Roles(roles.index("entailed"), contradicted)


def _plain(id2label: Mapping[int, str]) -> list[str]:
    return ["".join(filter(str.isalnum, id2label[i].casefold())) for i in sorted(id2label)]


def _told(id2label: Mapping[int, str]) -> str:
    return ", ".join(repr(id2label[position]) for position in sorted(id2label))


def _role(name: str) -> str:
    rests = [name.removeprefix(lead) for lead in _NEGATIONS if name.startswith(lead)]
    negated = any(_MEANS.get(rest) == "entailed" for rest in rests)
    return _MEANS.get(name, "neither" if negated else "")


def relations(logits: npt.NDArray[np.float64], roles: Roles) -> list[Relation]:
    """Probabilities from logits, finite, of shape (pairs, labels).

    A single logit is read as the second of two, the first being 0: softmax is then its sigmoid.
    """
    if logits.shape[1] == 1:
        logits = np.concatenate([np.zeros_like(logits), logits], axis=1)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return [
        Relation(
            entailed=row[roles.entailed],
            contradicted=0.0 if roles.contradicted is None else row[roles.contradicted],
        )
        for row in (powers / powers.sum(axis=1, keepdims=True)).tolist()
    ]
