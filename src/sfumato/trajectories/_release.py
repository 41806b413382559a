"""Published ways with their audit, and the folders they are written to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from sfumato.core.audit import Audit
from sfumato.core.model import Model
from sfumato.core.release import Release
from sfumato.errors import InvalidParameterError, ReadError
from sfumato.io._reading import read
from sfumato.io._writing import write_as_format
from sfumato.io.formats import resolve_release_format
from sfumato.report.page import ReportSection
from sfumato.trajectories._figures import density_maps, trajectory_maps, unicity_curve
from sfumato.trajectories.cloaked_trajectories import INTERVAL, SIDES, CloakedTrajectories, key_of
from sfumato.trajectories.metrics import DESCRIPTIONS
from sfumato.trajectories.risk import unicity
from sfumato.trajectories.trajectories import Trajectories

NAME = "ways"
OPTIONAL = ("trip", "cluster", "place", "order", "sensitive")
KNOWN_POINTS = range(1, 7)
CELL, BIN, SEED = 500.0, 3600.0, 1


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TrajectoriesRelease(Release[Trajectories | CloakedTrajectories]):
    """Published ways, what was found of them, what they lost, and what made them.

    Parameters
    ----------
    original : the ways that they were made from.
    audit_function : judges what is read back.
    example : the number of the person whose way the internal report draws; by default nobody's.
    """

    title: ClassVar[str] = "ways"
    original: Trajectories
    audit_function: Callable[..., Audit]
    example: int | None = None

    def with_example(self, person: str) -> TrajectoriesRelease:
        """Return the release with an internal report that draws the way of a chosen person, before and after.

        Parameters
        ----------
        person : her key in the original. Choose a made-up person, or somebody who has agreed.
        """
        return replace(self, example=individual_index(self.original, person))

    @property
    def trajectories(self) -> Trajectories | CloakedTrajectories:
        """The published ways."""
        return self.published

    @staticmethod
    def read(folder: Path) -> Trajectories | CloakedTrajectories:
        """Read published ways from the one file of a folder that holds them."""
        found = [path for path in sorted(folder.iterdir()) if path.stem == NAME]
        if not found:
            raise ReadError(f"{folder} holds no ways; give the folder public of a release.")
        return read_published(found[0])

    def _write_files(self, folder: Path, table_format: str) -> None:
        form = resolve_release_format(table_format)
        write_as_format(form, self.published.to_arrow(), folder / f"{NAME}{form.suffixes[0]}", {})

    def _read_files(self, folder: Path) -> Trajectories | CloakedTrajectories:
        return self.read(folder)

    def _audit(self, published: Trajectories | CloakedTrajectories, models: Sequence[Model[Any]]) -> Audit:
        return self.audit_function(published, models=models)

    def _equals_published(self, read: Trajectories | CloakedTrajectories) -> bool:
        return read.digest() == self.published.digest()

    def _describe_files(self, folder: Path) -> Mapping[str, str]:
        columns = ", ".join(self.published.to_arrow().column_names)
        row = "step" if isinstance(self.published, CloakedTrajectories) else "point"
        return {path.name: f"One row per {row}: {columns}." for path in folder.iterdir() if path.stem == NAME}

    def _sections(self) -> Sequence[ReportSection]:
        meanings = ReportSection(
            title="What the figures mean",
            rows=[(name, DESCRIPTIONS[name]) for name in self.metrics],
            head=("figure", "meaning"),
        )
        odd = ReportSection(title="The original", sentences=self.original.remarks or ("Nothing looked odd.",))
        return [meanings, self._unicity(), *self._maps(), odd]

    def _unicity(self) -> ReportSection:
        sentences = [
            f"The share of persons whom a few known points single out, each known to {CELL:g} m and {BIN:g} s."
        ]
        held = self.published if isinstance(self.published, CloakedTrajectories) else self.published.points
        if held.trip_keys:
            sentences.append("Every published trip has a key of its own and counts as a person of its own.")
        shares = {"original": _unicity_curve(self.original)}
        if isinstance(self.published, CloakedTrajectories):
            sentences.append("Of regions, the share of persons whose whole sequence nobody else has.")
            label, persons = self.published.identical_groups
            shares["published"] = [float((persons[label] == 1).mean())] * len(KNOWN_POINTS)
        else:
            shares["published"] = _unicity_curve(self.published)
        return ReportSection(
            title="Unicity",
            sentences=sentences,
            head=("known points", *map(str, KNOWN_POINTS)),
            rows=[(name, *(f"{share:.3f}" for share in found)) for name, found in shares.items()],
            pictures=(unicity_curve(shares),),
        )

    def _maps(self) -> list[ReportSection]:
        """Draw maps, if it is known where points are."""
        published = self.published
        known = isinstance(published, CloakedTrajectories) or published.points.has_coordinates
        if not (known and self.original.points.has_coordinates):
            if self.example is None:
                return []
            return [ReportSection(title="The chosen way", sentences=("It is not known where its places are.",))]
        where = ReportSection(
            title="Where people are",
            sentences=("Points in every square, on the same scale of shades; darker means more.",),
            pictures=(density_maps(self.original, published),),
            wide=True,
        )
        return [where, *([] if self.example is None else [self._example_section(self.example)])]

    def _example_section(self, person: int) -> ReportSection:
        origin = (
            self.published.origin if isinstance(self.published, CloakedTrajectories) else self.published.points.origin
        )
        there = origin is not None and bool((self.original.points.individual_of[origin] == person).any())
        return ReportSection(
            title="The chosen way",
            sentences=(
                "One way that was asked for, on the same scale; keep this page private."
                if there
                else "The way that was asked for is not published.",
            ),
            pictures=(trajectory_maps(self.original, self.published, person),) if there else (),
            wide=True,
        )


def _unicity_curve(ways: Trajectories) -> list[float]:
    return [unicity(ways, points=known, meters=CELL, seconds=BIN, seed=SEED).share for known in KNOWN_POINTS]


def individual_index(ways: Trajectories, person: str) -> int:
    """Return the number of the person with a key."""
    if person not in ways.keys:
        raise InvalidParameterError("Nobody in these ways has that key; give one as the column of persons has it.")
    return ways.keys.index(person)


def read_published(path: Path) -> Trajectories | CloakedTrajectories:
    """Read a file of published ways; columns of trips, clusters, places and regions are known by their names."""
    table = read(path)
    if {*SIDES, *INTERVAL} <= {*table.column_names}:
        return CloakedTrajectories.from_table(table)
    named = {name: name for name in OPTIONAL if name in table.column_names}
    if key_of(table.column_names) == "trip":
        named["person"] = named.pop("trip")
    ways = Trajectories(table, zone="UTC", **named)  # type: ignore[arg-type]  # names of columns
    ways.points = replace(ways.points, trip_keys="person" in named)
    return ways
