import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import ConfigError
from judge.metrics.logistic import LogisticModel, expit, logit

TEXT = json.dumps(
    {
        "model": "tiny-v1",
        "features": ["a", "b"],
        "mean": [1.0, 2.0],
        "scale": [1.0, 2.0],
        "coefficients": [0.5, -1.0],
        "intercept": 0.25,
        "base_rate": 0.5,
        "threshold": 0.4,
    }
)


def test_log_odds_by_hand() -> None:
    model = LogisticModel.load(TEXT, ["a", "b"])
    # ½ · (3 - 1) / 1 - 1 · (4 - 2) / 2 + ¼ = ¼, and at the mean the intercept alone.
    assert model.logits(np.array([[3.0, 4.0], [1.0, 2.0]])).tolist() == [0.25, 0.25]
    assert model.logits(np.array([[[3.0, 2.0]]])).tolist() == [[1.25]]


def test_shift_by_hand() -> None:
    # From even odds to 9 : 1.
    assert LogisticModel.load(TEXT, ["a", "b"]).shift(0.9) == pytest.approx(math.log(9))


def test_another_list_of_features_is_refused() -> None:
    with pytest.raises(ConfigError, match="train it again"):
        LogisticModel.load(TEXT, ["b", "a"])


def test_the_name_follows_the_content() -> None:
    name = LogisticModel.load(TEXT, ["a", "b"]).name
    assert name.startswith("tiny-v1@")
    assert LogisticModel.load(TEXT + " ", ["a", "b"]).name != name


@given(st.floats(min_value=0.001, max_value=0.999))
def test_expit_undoes_logit(share: float) -> None:
    assert expit(logit(share)) == pytest.approx(share)
