"""A logistic model, and its probabilities at another prior than the one it was trained at."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge.errors import ConfigError

Floats = npt.NDArray[np.float64]


def logit(share: float) -> float:
    """ln(share / (1 - share)), for a share within (0, 1).

    >>> round(logit(0.9), 6)
    2.197225
    """
    return math.log(share / (1 - share))


def expit(odds: float) -> float:
    """1 / (1 + exp(-odds)), the inverse of `logit`, within [0, 1] for any log odds.

    >>> expit(0.0), expit(-800.0), expit(800.0)
    (0.5, 0.0, 1.0)
    """
    if odds >= 0:
        return 1 / (1 + math.exp(-odds))
    grown = math.exp(odds)
    return grown / (1 + grown)


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """P(y) = expit(intercept + Σ coefficient · (feature - mean) / scale), as trained."""

    name: str
    """What kind it is, and the first eight digits of its file's sha256."""
    mean: Floats
    """Of each feature over the training rows."""
    scale: Floats
    """Its standard deviation there, never 0."""
    coefficients: Floats
    """Of the standardised features."""
    intercept: float
    """At the training base rate."""
    base_rate: float
    """Share of positives in training, within (0, 1)."""
    threshold: float
    """The lowest probability that counts as positive, at the training base rate."""

    @classmethod
    def load(cls, text: str, features: Sequence[str]) -> "LogisticModel":
        """Read a model file's text.

        Raises:
            ConfigError: it was trained on other features, or on these in another order.
        """
        raw = json.loads(text)
        if raw["features"] != list(features):
            raise ConfigError(
                f"model was trained on {raw['features']!r}, not on {list(features)!r}; "
                "train it again"
            )
        return cls(
            name=f"{raw['model']}@{hashlib.sha256(text.encode()).hexdigest()[:8]}",
            mean=np.asarray(raw["mean"], np.float64),
            scale=np.asarray(raw["scale"], np.float64),
            coefficients=np.asarray(raw["coefficients"], np.float64),
            intercept=raw["intercept"],
            base_rate=raw["base_rate"],
            threshold=raw["threshold"],
        )

    def logits(self, features: Floats) -> Floats:
        """Log odds at the training base rate: the shape of `features` without its last axis."""
        standard = (features - self.mean) / self.scale
        odds: Floats = standard @ self.coefficients + self.intercept
        return odds

    def shift(self, prior: float) -> float:
        """What to add to log odds where a share `prior` is positive rather than `base_rate`.

        logit(prior) - logit(base_rate): Saerens, Latinne and Decaestecker 2002, "Adjusting the
        outputs of a classifier to new a priori probabilities".
        """
        return logit(prior) - logit(self.base_rate)
