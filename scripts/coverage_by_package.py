"""Print the coverage of every package in the last measured run of the tests; fail below a floor.

The floors are in `pyproject.toml`: `fail_under` of coverage.py for the whole, `tool.sfumato.coverage` for single
packages.
"""

from __future__ import annotations

import json
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "src/sfumato/"
TOP = "(top)"


@dataclass(frozen=True)
class Reach:
    """How many lines and branches there are, and how many of them the tests reached."""

    lines: int = 0
    branches: int = 0
    reached_lines: int = 0
    reached_branches: int = 0

    def __add__(self, other: Reach) -> Reach:
        return Reach(
            self.lines + other.lines,
            self.branches + other.branches,
            self.reached_lines + other.reached_lines,
            self.reached_branches + other.reached_branches,
        )

    @property
    def percent(self) -> float:
        """The reached part of lines and branches, as coverage.py computes it, and never rounded up."""
        whole = self.lines + self.branches
        return (self.reached_lines + self.reached_branches) * 1000 // whole / 10 if whole else 100.0


def measured() -> dict[str, Reach]:
    """Read the last run."""
    found = Coverage()
    found.load()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coverage.json"
        found.json_report(outfile=str(path))
        files = json.loads(path.read_text("utf-8"))["files"]
    packages: dict[str, Reach] = defaultdict(Reach)
    for name, file in files.items():
        parts = Path(name).as_posix().rpartition(PACKAGE)[2].split("/")[:-1]
        total = file["summary"]
        packages[".".join(parts[: 2 if parts[:1] == ["tables"] else 1]) or TOP] += Reach(
            total["num_statements"], total["num_branches"], total["covered_lines"], total["covered_branches"]
        )
    return dict(sorted(packages.items()))


def floors() -> tuple[float, dict[str, float]]:
    """Read the floor of the whole and those of single packages."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    return tools["coverage"]["report"]["fail_under"], tools["sfumato"]["coverage"]


def table(packages: Mapping[str, Reach], whole: float, single: Mapping[str, float]) -> tuple[str, list[str]]:
    """Format the table, with a sentence for each floor that was not reached."""
    total = sum(packages.values(), Reach())
    shown = [*packages.items(), ("total", total)]
    least = {**single, "total": whole}
    lines = [f"{'package':<22}{'lines':>8}{'branches':>10}{'not taken':>11}{'percent':>9}{'floor':>7}"]
    for package, reach in shown:
        missed = reach.branches - reach.reached_branches
        floor = f"{least[package]:g}" if package in least else ""
        lines.append(f"{package:<22}{reach.lines:>8}{reach.branches:>10}{missed:>11}{reach.percent:>9.1f}{floor:>7}")
    reached = dict(shown)
    broken = [
        f"The tests reach {reached[package].percent:.1f} % of {package}, and {floor:g} % is the floor in "
        "pyproject.toml."
        for package, floor in least.items()
        if reached[package].percent < floor
    ]
    return "\n".join(lines), broken


def main() -> int:
    """Print the table; return 1 where a floor was not reached."""
    text, broken = table(measured(), *floors())
    sys.stdout.write(text + "\n")
    sys.stderr.write("".join(f"{sentence}\n" for sentence in broken))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
