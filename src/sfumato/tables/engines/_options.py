"""Where a release is made."""

from __future__ import annotations

import os
from typing import Literal

from sfumato.tables.engines.options import EngineName, ResourceLimits


class OutputOptions(ResourceLimits, total=False):
    """What can be said of a place apart from its engine; see `Where`."""

    out: str | os.PathLike[str] | None
    replace: bool
    resume: bool


class MemoryOptions(OutputOptions, total=False):
    """A place that a type checker takes for memory, because no other engine is named."""

    engine: Literal["auto", "memory"]


class ExternalEngineOptions(OutputOptions):
    """A place of which the engine is named."""

    engine: Literal["duckdb", "spark"]


class EngineOptions(OutputOptions, total=False):
    """Where a release is made, and what that may take; none of it changes the release.

    - `engine`: `"memory"`, `"duckdb"` or `"spark"`; by default `"auto"`: in memory if the table takes at most a
      quarter of the budget.
    - `memory`: the budget of the process, such as `"4GB"`; by default half of what is free.
    - `temporary`: the folder for what does not fit into memory, which holds original values; by default beside
      `out`.
    - `out`: the folder to write the release into, which is needed beyond memory; or the address of one in an object
      store, such as `"s3://bucket/release"`. That release is made in `temporary`, and copied from there.
    - `replace`: whether an older release there may be replaced.
    - `resume`: whether a release that is made in segments or blocks continues where an earlier call with
      `resume=True` stopped, and leaves what the next one needs if it fails.
    """

    engine: EngineName
