"""Tasks of the worker process: where each is, which parts of a project and of a request it depends on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sfumato.errors import InvalidParameterError


@dataclass(frozen=True)
class Task:
    """A function of a module here, with the parts of the recipe that its result depends on, and its parameters."""

    module: str
    function: str
    needs: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()

    def load(self) -> Callable[..., dict[str, Any]]:
        """Import the function."""
        found: Callable[..., dict[str, Any]] = getattr(import_module(f"{__name__}.{self.module}"), self.function)
        return found


TASKS = {
    "anonymize": Task(
        "release", "run_anonymize", needs=("attributes", "models", "algorithm", "masking", "release", "sfumato")
    ),
    "assess": Task("evaluation", "run_assess", asks=("candidate",)),
    "attack": Task("evaluation", "run_attack", asks=("candidate",)),
    "change": Task("hierarchies", "run_change", asks=("hierarchy", "change")),
    "check": Task("release", "run_check", needs=("attributes", "models", "algorithm", "masking", "release")),
    "classify": Task("evaluation", "run_classify", asks=("candidate", "column")),
    "compare": Task("evaluation", "run_compare", asks=("candidates",)),
    "coverage": Task("hierarchies", "run_coverage", asks=("column", "hierarchy")),
    "explore": Task("release", "run_explore", needs=("attributes", "models", "release", "masking"), asks=("loss",)),
    "expose": Task("evaluation", "run_disclosure_risk", asks=("candidate",)),
    "fixed_levels": Task(
        "release",
        "run_fixed_levels",
        needs=("attributes", "models", "algorithm", "masking", "release", "sfumato"),
        asks=("levels",),
    ),
    "hierarchy_csv": Task("hierarchies", "run_hierarchy_csv", needs=("attributes",), asks=("column",)),
    "open": Task("tables", "run_open", asks=("place", "name")),
    "outside": Task("evaluation", "run_external_attack", asks=("candidate", "file", "kind")),
    "preview": Task("hierarchies", "run_preview", asks=("column",)),
    "query": Task("evaluation", "run_queries", asks=("candidate", "queries")),
    "read_hierarchy": Task("hierarchies", "run_read_hierarchy", asks=("column", "name")),
    "reasons": Task("evaluation", "run_reasons", asks=("candidate", "row")),
    "risk": Task("evaluation", "run_risk", needs=("attributes", "models")),
    "utility": Task("evaluation", "run_utility", asks=("candidate",)),
    "write": Task("release", "run_write", asks=("candidate",)),
}


def find_task(name: str) -> Task:
    """Return the task of this name."""
    if name not in TASKS:
        raise InvalidParameterError("There is no such job.")
    return TASKS[name]
