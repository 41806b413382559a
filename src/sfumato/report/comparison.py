"""`sf.compare`: releases side by side, in memory or as folders."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from sfumato import __version__, _number_format
from sfumato._locale.messages import LocalizedText, Messages, load_messages
from sfumato.core._formatting import text_table
from sfumato.core.attack import WORRYING
from sfumato.core.bundle import PublishedRelease
from sfumato.core.writing import read_facts
from sfumato.errors import InvalidParameterError
from sfumato.report._presentation import attack_title, embed_svg, present_models
from sfumato.report.charts.scatter import TradeoffPoint, draw_tradeoff, sort_points
from sfumato.report.facts import FORMAT
from sfumato.report.page import Page, template_environment
from sfumato.report.texts import ENGLISH, metric_texts

# The figures of one release that are put beside those of others, whatever kind of release it is.

LOST_CELLS = ("ncp", "lost-precision")  # 1 if every cell of the quasi-identifiers is lost
SYNTHETIC_UTILITY = ("mean-shift", "covariance-error", "correlation-difference")


@dataclass(frozen=True, kw_only=True)
class ComparedAttack:
    """How often an attack is right about a person, with its 95% confidence interval, and how often guessing is."""

    attack: str
    sensitive: str | None
    rate: float
    interval: tuple[float, float]
    guessing: float
    verdict: str

    @property
    def title(self) -> str:
        """The attack, and what it is about."""
        return attack_title(self.attack, self.sensitive, ENGLISH)


@dataclass(frozen=True, kw_only=True)
class ComparedRelease:
    """What one release promises, exposes, withstands, loses and keeps.

    Parameters
    ----------
    name : what the candidate is called.
    made_by : the algorithm, or what else made it.
    holds : whether everything that is promised holds.
    promises : every promise in words, with the level that is reached.
    records : how many records are published.
    suppressed : how many are left out, if the original is known.
    exposure : the mean and the highest exposure of identities (under no name) and of each sensitive column to an
        adversary who knows everybody's quasi-identifiers; None if it is not known.
    attacks : what attacks get right; None if none was run.
    metrics : what is lost, by name.
    utility : what analysts still find, by name; see `sfumato.tables.metrics.utility.UtilityComparison`.
    input : the fingerprint of the table that it was made from, if it is known.
    facts : of the report, from which promises are said in other words.
    """

    name: str
    made_by: str
    holds: bool
    promises: tuple[str, ...]
    records: int
    suppressed: int | None = None
    exposure: Mapping[str | None, tuple[float, float]] | None = field(default=None, hash=False)
    attacks: tuple[ComparedAttack, ...] | None = None
    metrics: Mapping[str, float] = field(default_factory=dict, hash=False)
    utility: Mapping[str, float] = field(default_factory=dict, hash=False)
    input: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False, compare=False)

    def model_texts(self, say: Messages) -> tuple[str, ...]:
        """Say every promise in the words of a language, with the level that is reached."""
        return _models_of(self.facts, say) if self.facts else self.promises

    @property
    def emptied(self) -> bool:
        """Whether every quasi-identifier is published as `*` throughout, so that nothing but the rest is of use."""
        known = [self.metrics[name] for name in LOST_CELLS if name in self.metrics]
        return bool(known) and min(known) >= 1

    @property
    def risk(self) -> float | None:
        """The mean exposure of what is exposed most: identities, or a sensitive column."""
        return None if not self.exposure else max(mean for mean, _ in self.exposure.values())

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        exposure = self.exposure and [
            {"attribute": name, "mean": mean, "maximum": most} for name, (mean, most) in self.exposure.items()
        ]
        attacks = self.attacks and [{**asdict(each), "interval": list(each.interval)} for each in self.attacks]
        return {
            "name": self.name,
            "made_by": self.made_by,
            "holds": self.holds,
            "promises": list(self.promises),
            "records": self.records,
            "suppressed": self.suppressed,
            "exposure": exposure,
            "attacks": attacks,
            "measures": dict(self.metrics),
            "utility": dict(self.utility),
            "risk": self.risk,
            "input": self.input,
        }


def candidate_from_facts(name: str, facts: Mapping[str, Any]) -> ComparedRelease:
    """Take the figures of a candidate from the facts of its report; see `sfumato.report.facts`."""
    recipe = tomllib.loads(facts["recipe"])
    source = recipe.get("input", {}).get("sha256")
    if facts["format"] != FORMAT:
        measures = facts["measures"]
        return ComparedRelease(
            name=name,
            made_by="condensation",
            holds=facts["audit"]["holds"],
            promises=_models_of(facts, ENGLISH),
            facts=facts,
            records=facts["records"],
            metrics={key: value for key, value in measures.items() if key not in SYNTHETIC_UTILITY},
            utility={key: value for key, value in measures.items() if key in SYNTHETIC_UTILITY},
            input=source,
        )
    return ComparedRelease(
        name=name,
        made_by=recipe.get("algorithm", {}).get("name", "fusion"),
        holds=facts["audit"]["holds"],
        promises=_models_of(facts, ENGLISH),
        facts=facts,
        records=facts["rows"]["published"],
        suppressed=facts["rows"]["suppressed"],
        exposure=_risk_of(facts),
        attacks=None if facts["attacks"] is None else tuple(_attack_of(each) for each in facts["attacks"]),
        metrics={key: value for key, value in facts["measures"].items() if not isinstance(value, str)},
        utility={} if facts["utility"] is None else facts["utility"]["figures"],
        input=source,
    )


def _models_of(facts: Mapping[str, Any], say: Messages) -> tuple[str, ...]:
    if facts["format"] != FORMAT:
        return (say("synthetic.promise", k=str(facts["k"])),)
    told = present_models(facts["promise"], facts["audit"]["models"], facts["words"], say)
    return tuple(say("comparison.reached", **each["figures"]) for each in told)


def _risk_of(facts: Mapping[str, Any]) -> dict[str | None, tuple[float, float]] | None:
    if facts["exposure"] is None:
        return None
    return {each["attribute"]: (each["everybody"]["mean"], each["everybody"]["maximum"]) for each in facts["exposure"]}


def _attack_of(each: Mapping[str, Any]) -> ComparedAttack:
    after = each["after"]
    return ComparedAttack(
        attack=each["attack"],
        sensitive=each["sensitive"],
        rate=after["rate"],
        interval=(after["low"], after["high"]),
        guessing=after["guessing"],
        verdict=after["verdict"],
    )


Compared: TypeAlias = PublishedRelease | str | PathLike[str]
BEST_FIRST = ("loss", "ncp", "tabulation-distance", "covariance-error", "average-class-size")
NOT_KNOWN = "?"
ROUNDING = 1e-9  # less than that is 0


@dataclass(frozen=True)
class ComparisonSection:
    """One table of a comparison: a row for every candidate."""

    title: str
    says: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class ReleaseComparison:
    """Releases side by side: what they promise, expose, withstand, lose and keep.

    No figure is a score, and none decides: `front` names the candidates that no other beats in both risk and loss.
    `refused` says in a sentence why a candidate could not be made.
    """

    candidates: tuple[ComparedRelease, ...]
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def note(self) -> LocalizedText | None:
        """What limits the comparison."""
        known = {each.input for each in self.candidates if each.input is not None}
        return LocalizedText("comparison.other_tables") if len(known) > 1 else None

    @property
    def loss(self) -> str | None:
        """The figure of loss that most candidates have, the more telling one first."""
        found = {name: sum(self.losses(each, name) is not None for each in self.candidates) for name in BEST_FIRST}
        return max(found, key=found.__getitem__) if any(found.values()) else None

    def losses(self, candidate: ComparedRelease, name: str | None = None) -> float | None:
        """Return what a candidate loses, by the figure that is compared or by another one."""
        name = name or self.loss
        return None if name is None else candidate.metrics.get(name, candidate.utility.get(name))

    @property
    def pareto_front(self) -> tuple[str, ...]:
        """The candidates of which no other has both less risk and less loss, nor less of one and as much of the other.

        Only candidates whose risk and loss are known take part, and none that publishes every quasi-identifier as `*`.
        """
        placed = {each.name: (each.risk, self.losses(each)) for each in self.candidates if not each.emptied}
        known = {name: (risk, lost) for name, (risk, lost) in placed.items() if risk is not None and lost is not None}
        return tuple(
            name
            for name, place in known.items()
            if not any(_dominates(other, place) for each, other in known.items() if each != name)
        )

    @property
    def emptied(self) -> LocalizedText | None:
        """Which candidates publish every quasi-identifier as `*`, and are not named in `front` for that."""
        names = [each.name for each in self.candidates if each.emptied]
        return LocalizedText("comparison.emptied", names=", ".join(names)) if names else None

    def sections(self, say: Messages = ENGLISH) -> list[ComparisonSection]:
        """Return the tables of the comparison, as texts in the words of a language."""
        return [
            made
            for part in (_models_section, _risk_section, _attack_section, _loss_section, _utility_section)
            if (made := part(self, say)).head
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        return {
            "candidates": [each.to_dict() for each in self.candidates],
            "refused": dict(self.refused),
            "loss": self.loss,
            "front": list(self.pareto_front),
            "emptied": [each.name for each in self.candidates if each.emptied],
            "note": self.note,
        }

    def page(self, language: str = "en") -> Page:
        """Return the comparison as a page with a picture of risk and loss; keep it private, as the reports.

        `language` is `"en"` or `"zh"`.
        """
        say = load_messages(language)
        return Page(say("comparison.title"), render_comparison(self, say))

    def __repr__(self) -> str:
        return "\n\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Yield the tables as text, and who was refused and why."""
        for section in self.sections():
            table = text_table([("", *section.head), *section.rows])
            yield f"{section.title}\n{table}"
        if self.refused:
            yield "Refused\n" + "\n".join(f"  {name}: {why}" for name, why in self.refused.items())
        if self.pareto_front:
            yield f"No other candidate beats these in both risk and {self.loss}: {', '.join(self.pareto_front)}"
        for sentence in (self.emptied, self.note):
            if sentence is not None:
                yield sentence

    def _repr_html_(self) -> str:
        return self.page()._repr_html_()


def compare(
    releases: Sequence[Compared] | Mapping[str, Compared], *, refused: Mapping[str, str] | None = None
) -> ReleaseComparison:
    """Put releases of one table side by side: promises, exposure, attacks, losses and what analysts still find.

    Parameters
    ----------
    releases : releases of any kind, or folders that were written with their reports; a mapping names them, and by
        default they are called by their folder or algorithm.
    refused : why other candidates could not be made, by name.
    """
    named = dict(releases) if isinstance(releases, Mapping) else dict(_release_names(releases))
    if not named:
        raise InvalidParameterError("There is nothing to compare; give at least one release or folder.")
    found = tuple(candidate_from_facts(name, _facts_of_release(name, each)) for name, each in named.items())
    return ReleaseComparison(candidates=found, refused=dict(refused or {}))


def _facts_of_release(name: str, release: object) -> Mapping[str, Any]:
    if isinstance(release, str | PathLike):
        return read_facts(release)
    if not isinstance(release, PublishedRelease):
        raise InvalidParameterError(
            f"Candidate {name!r} is neither a release nor a folder; give what anonymize returns."
        )
    return release.figures()


def _release_names(releases: Sequence[Compared]) -> Iterator[tuple[str, Compared]]:
    taken: set[str] = set()
    for release in releases:
        wanted = _default_name(release)
        name, number = wanted, 2
        while name in taken:
            name, number = f"{wanted} ({number})", number + 1
        taken.add(name)
        yield name, release


def _default_name(release: object) -> str:
    if isinstance(release, str | PathLike):
        return Path(os.path.abspath(release)).name or str(release)  # noqa: PTH100 - links keep their names
    algorithm = getattr(getattr(release, "recipe", None), "algorithm", None)
    return str(getattr(algorithm, "name", type(release).__name__))


def _dominates(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one != other and one[0] <= other[0] and one[1] <= other[1]


def _section(kind: str, say: Messages, head: Sequence[str], rows: Sequence[tuple[str, ...]]) -> ComparisonSection:
    return ComparisonSection(say(f"comparison.{kind}.title"), say(f"comparison.{kind}.says"), tuple(head), tuple(rows))


def metric_title(name: str, say: Messages) -> str:
    """Name a measure or a figure of use in the words of a language."""
    return say.get(f"comparison.figure.{name}", name)


def _models_section(found: ReleaseComparison, say: Messages) -> ComparisonSection:
    rows = [
        (
            each.name,
            each.made_by,
            say("comparison.promises.yes" if each.holds else "comparison.promises.no"),
            _number_format.format_count(each.records),
            NOT_KNOWN if each.suppressed is None else _number_format.format_count(each.suppressed),
            say("comparison.between").join(each.model_texts(say)),
        )
        for each in found.candidates
    ]
    head = [say(f"comparison.promises.{key}") for key in ("made_by", "holds", "records", "suppressed", "reached")]
    return _section("promises", say, head, rows)


def _risk_section(found: ReleaseComparison, say: Messages) -> ComparisonSection:
    kinds = list(dict.fromkeys(kind for each in found.candidates for kind in each.exposure or {}))
    rows = [
        (each.name, *(_risk_of_both(None if each.exposure is None else each.exposure.get(kind)) for kind in kinds))
        for each in found.candidates
    ]
    head = [say("comparison.exposure.identity") if kind is None else kind for kind in kinds]
    return _section("exposure", say, head, rows)


def _attack_section(found: ReleaseComparison, say: Messages) -> ComparisonSection:
    tried = [{(one.attack, one.sensitive): one for one in each.attacks or ()} for each in found.candidates]
    names = list(dict.fromkeys(name for each in tried for name in each))
    rows = [
        (each.name, *(_rate(results.get(name)) for name in names))
        for each, results in zip(found.candidates, tried, strict=True)
    ]
    return _section("attacks", say, [attack_title(*name, say) for name in names], rows)


def _rate(one: Any) -> str:
    if one is None:
        return NOT_KNOWN
    return (
        f"{_number_format.format_percent(one.rate)} / "
        f"{_number_format.format_percent(one.guessing)}{' *' if one.verdict in WORRYING else ''}"
    )


def _loss_section(found: ReleaseComparison, say: Messages) -> ComparisonSection:
    names = list(dict.fromkeys(name for each in found.candidates for name in each.metrics))
    rows = [(each.name, *(_metric(name, each.metrics) for name in names)) for each in found.candidates]
    return _section("losses", say, [metric_title(name, say) for name in names], rows)


def _utility_section(found: ReleaseComparison, say: Messages) -> ComparisonSection:
    names = [
        name for name in ENGLISH.subset("measures.utility") if any(name in each.utility for each in found.candidates)
    ]
    rows = tuple((each.name, *(_figure(each.utility.get(name)) for name in names)) for each in found.candidates)
    head = tuple(metric_title(name, say) for name in names)
    told = [
        say("comparison.analysts.meaning", name=title, meaning=say(f"measures.utility.{name}"))
        for name, title in zip(names, head, strict=True)
    ]
    says = say("comparison.analysts.says", told=say("comparison.between").join(told)) if told else ""
    return ComparisonSection(say("comparison.analysts.title"), says, head, rows)


def _figure(value: float | None) -> str:
    if value is None:
        return NOT_KNOWN
    return f"{value if abs(value) > ROUNDING else 0.0:.3g}"


def _metric(name: str, measures: Mapping[str, float]) -> str:
    return (
        _number_format.format_metric(measures[name], share=metric_texts(name).share) if name in measures else NOT_KNOWN
    )


def _risk_of_both(exposed: tuple[float, float] | None) -> str:
    return (
        NOT_KNOWN
        if exposed is None
        else f"{_number_format.format_percent(exposed[0])} / {_number_format.format_percent(exposed[1])}"
    )


# The page of a comparison: the picture of risk and loss, and every figure side by side.


def render_comparison(found: ReleaseComparison, say: Messages) -> str:
    """Render a comparison as one page that loads nothing from outside, in the words of a language."""
    placed = [
        TradeoffPoint(each.name, each.risk, lost, each.name in found.pareto_front)
        for each in found.candidates
        if each.risk is not None and (lost := found.losses(each)) is not None
    ]
    risk, loss = say("comparison.picture.risk"), metric_title(found.loss, say) if found.loss else ""
    context = {
        "found": found,
        "picture": embed_svg(draw_tradeoff(placed, risk=risk, loss=loss, say=say)) if placed else None,
        "loss": loss,
        "note": found.note and found.note.render(say),
        "emptied": found.emptied and found.emptied.render(say),
        "numbered": sort_points(placed),
        "unplaced": [each.name for each in found.candidates if each.name not in {one.name for one in placed}],
        "sections": found.sections(say),
        "version": __version__,
    }
    return template_environment(say).get_template("comparison.html.j2").render(context) + "\n"
