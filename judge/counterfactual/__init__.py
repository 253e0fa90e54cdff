"""Counterfactuals: a figure, date or name changed in every text where it stands."""

from judge.counterfactual.change import Change, Counterfactual, Reason, counterfactual, says

__all__ = ["Change", "Counterfactual", "Reason", "counterfactual", "says"]
