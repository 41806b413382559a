"""What a report says about a series: exposure release by release as a picture, and what earlier releases told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato._locale.messages import Messages
from sfumato._number_format import format_count
from sfumato.report.charts.svg import (
    AFTER,
    BEFORE_EDGE,
    FAINT,
    LINE,
    QUIET,
    circle,
    draw_line,
    polyline,
    svg_document,
    text_line,
    text_width,
)
from sfumato.report.texts import ENGLISH

LEFT, TOP, WIDTH, HEIGHT = 52.0, 34.0, 372.0, 190.0
RIGHT, BELOW, KEY = 16.0, 48.0, 28.0
RADIUS, LETTER, PAPER = 4.5, 6.8, "#ffffff"
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
MAX_NUMBERS = 20
FLAG_CHANGES = ("shown_now", "kept_hidden", "flagged_late")
COLUMNS = ("release", "persons", "maximum", "mean", "decided", "pairs", "counterfeits")


def draw_cumulative_disclosure(
    own: Sequence[float], independent: Sequence[float] = (), *, limit: float | None = None, say: Messages = ENGLISH
) -> str:
    """Draw the mean exposure of people by all releases up to each one, as an SVG picture.

    Parameters
    ----------
    own : the exposure of the series as it was published, release by release.
    independent : the same for releases of the same tables that were each made on their own, to compare with.
    limit : the largest exposure that is promised.
    say : the words.
    """
    tracks = [(say("series.picture.own"), own, AFTER)]
    if independent:
        tracks.append((say("series.picture.independent"), independent, BEFORE_EDGE))
    count = max(len(values) for _, values, _ in tracks)
    shapes = [*_grid(count, say), *(_limit(limit, say) if limit is not None else ())]
    for name, values, ink in reversed(tracks):
        points = [(_x_position(at, count), _round_up(value)) for at, value in enumerate(values)]
        shapes.append(polyline(points, ink=ink, width=2))
        for number, ((x, y), value) in enumerate(zip(points, values, strict=True), 1):
            tip = say("series.picture.tip", track=name, number=number, value=f"{value:.3g}")
            shapes.append(circle(x, y, RADIUS, fill=ink if ink == AFTER else PAPER, edge=ink, width=1.5, tip=tip))
    shapes += _draw_legend([(name, ink) for name, _, ink in tracks])
    told = say("series.picture.between").join(
        say("series.picture.track", track=name, values=", ".join(f"{value:.3g}" for value in values))
        for name, values, _ in tracks
    )
    return svg_document(
        LEFT + WIDTH + RIGHT,
        TOP + HEIGHT + BELOW + KEY,
        title=say("series.picture.title"),
        description=say("series.picture.told", told=told),
        shapes=shapes,
    )


@dataclass(frozen=True, kw_only=True)
class AttributeDisclosure:
    """What a series tells about one sensitive attribute, after each of its releases.

    Parameters
    ----------
    attribute : its name.
    limit : the largest exposure that is promised, if any is.
    releases : what `sfumato.tables.series._context` tells of every release.
    flagged_late : cells that are flagged though an earlier release showed them.
    shown_now : cells that are no longer flagged and shown.
    kept_hidden : cells that are no longer flagged and hidden all the same, because showing them would expose others.
    """

    attribute: str
    limit: float | None
    releases: Sequence[Mapping[str, Any]]
    flagged_late: int = 0
    shown_now: int = 0
    kept_hidden: int = 0

    def sentences(self, say: Messages = ENGLISH) -> Iterator[str]:
        """Say it, one sentence after the other."""
        *earlier, last = self.releases
        highest = _share_text(last, "maximum", say)
        if earlier:
            before = _share_text(earlier[-1], "maximum", say)
            yield say("series.before", attribute=self.attribute, before=before, after=highest)
        else:
            yield say("series.alone", attribute=self.attribute, after=highest)
        yield say("series.decided", n=last["decided"]) if last["decided"] else say("series.nobody_decided")
        if last["equal_pairs"]:
            yield say("series.equal", n=last["equal_pairs"])
        if last["shown"]:
            yield say("series.shown", n=last["shown"])
        for change in FLAG_CHANGES:
            if getattr(self, change):
                yield say(f"series.{change}", n=getattr(self, change))

    def chart(self, say: Messages = ENGLISH) -> str:
        """Draw the mean exposure release by release."""
        return draw_cumulative_disclosure([each["mean"] for each in self.releases], limit=self.limit, say=say)

    def rows(self, say: Messages = ENGLISH) -> list[list[str]]:
        """Return the figures of every release, in the order of `COLUMNS`."""
        return [
            [
                str(each["release"]),
                *(format_count(each["persons"]), *(_share_text(each, name, say) for name in ("maximum", "mean"))),
            ]
            + [format_count(each[name]) for name in ("decided", "equal_pairs", "counterfeits")]
            for each in self.releases
        ]


@dataclass(frozen=True, kw_only=True)
class SeriesDisclosure:
    """What a release adds to its series, in plain numbers.

    Parameters
    ----------
    earlier : how many releases there were before.
    persons : how many people of this release were in one of them.
    waiting : people who are left out until their values fit a group.
    counterfeits : rows that stand for nobody.
    attributes : what is told about each sensitive attribute.
    """

    earlier: int
    persons: int
    waiting: int = 0
    counterfeits: int = 0
    attributes: tuple[AttributeDisclosure, ...] = ()

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> SeriesDisclosure:
        """Read the facts that `sfumato.tables.series._context` gathers."""
        return cls(
            earlier=facts["number"] - 1,
            persons=facts["published_before"],
            waiting=facts["waiting"],
            counterfeits=facts["counterfeits"],
            attributes=tuple(AttributeDisclosure(**each) for each in facts["attributes"]),
        )

    @staticmethod
    def heading(say: Messages = ENGLISH) -> str:
        """Say what the sentences are about."""
        return say("series.heading")

    def sentences(self, say: Messages = ENGLISH) -> Iterator[str]:
        """Say what concerns all attributes, one sentence after the other."""
        yield say("series.earlier", n=self.earlier, persons=self.persons) if self.earlier else say("series.first")
        yield say("series.waiting", n=self.waiting) if self.waiting else say("series.nobody_waits")
        if self.counterfeits:
            yield say("series.counterfeits", n=self.counterfeits)


def _share_text(told: Mapping[str, Any], name: str, say: Messages) -> str:
    """Write a share; one that not everybody's exposure is known exactly for is a lower bound."""
    share = f"{told[name]:.3g}"
    return share if told["exact"] else say("series.least", share=share)


def _x_position(at: int, count: int) -> float:
    return LEFT + WIDTH * (at + 0.5) / count


def _round_up(value: float) -> float:
    return TOP + HEIGHT * (1 - value)


def _grid(count: int, say: Messages) -> Iterator[str]:
    bottom, right = TOP + HEIGHT, LEFT + WIDTH
    for share in TICKS:
        yield draw_line(LEFT, _round_up(share), right, _round_up(share), ink=FAINT)
        yield text_line(LEFT - 8, _round_up(share) + 4, f"{share:g}", size=11, ink=QUIET, anchor="end")
    step = -(-count // MAX_NUMBERS)
    for at in range(0, count, step):
        yield text_line(_x_position(at, count), bottom + 18, f"{at + 1}", size=11, ink=QUIET, anchor="middle")
    yield text_line(right, bottom + 38, f"{say('series.picture.axis')} →", ink=QUIET, anchor="end")
    yield text_line(LEFT - 40, TOP - 12, f"{say('series.picture.exposure')} ↑", ink=QUIET)


def _limit(limit: float, say: Messages) -> Iterator[str]:
    yield draw_line(LEFT, _round_up(limit), LEFT + WIDTH, _round_up(limit), ink=LINE, width=1.5, dashes="4 3")
    told = say("series.picture.limit", limit=f"{limit:.3g}")
    yield text_line(LEFT + WIDTH, _round_up(limit) - 9, told, size=11, ink=LINE, anchor="end", halo=True)


def _draw_legend(tracks: Sequence[tuple[str, str]]) -> Iterator[str]:
    x, y = LEFT, TOP + HEIGHT + BELOW + 8
    for name, ink in tracks:
        yield draw_line(x, y - 4, x + 24, y - 4, ink=ink, width=2)
        yield circle(x + 12, y - 4, RADIUS, fill=ink if ink == AFTER else PAPER, edge=ink, width=1.5)
        yield text_line(x + 32, y, name, ink=QUIET)
        x += 60 + LETTER * text_width(name)
