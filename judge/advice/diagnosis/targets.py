"""What to watch for a use, and whether its targets are reached."""

from judge.advice.diagnosis.figures import at_least, figure, out_of_reach
from judge.advice.diagnosis.table import table
from judge.advice.records import Target, Targets, Use
from judge.errors import ConfigError
from judge.retrieval.records import RankingReport


def targets(report: RankingReport, use: Use) -> Targets:
    """The measures to watch for a use, beside their targets.

    Raises:
        ConfigError: there is no such use.
    """
    rules = table()
    if use not in rules.use:
        raise ConfigError(f"there is no use {use!r}; try one of {', '.join(rules.use)}")
    of_use = rules.use[use]
    names = dict.fromkeys((*of_use.watch, *of_use.target))
    held = tuple(_target(report, name, of_use.target.get(name)) for name in names)
    return Targets(
        source=rules.source,
        use=use,
        name=of_use.name,
        targets=held,
        cautions=out_of_reach(
            (each.figure, each.target)
            for each in held
            if each.figure is not None and each.target is not None
        ),
    )


def _target(report: RankingReport, name: str, target: float | None) -> Target:
    found = figure(report, name)
    if found is None or target is None:
        return Target(measure=name, target=target, figure=found, met=None, sure=None)
    met = at_least(found.value, target)
    sure = None
    if found.interval is not None:
        worst = found.interval.low if met else found.interval.high
        sure = at_least(worst, target) is met
    return Target(measure=name, target=target, figure=found, met=met, sure=sure)
