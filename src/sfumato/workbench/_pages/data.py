"""Data: open a table, see how it was read, and look at its rows and columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato._locale.messages import Messages
from sfumato.io._header_detection import format_names
from sfumato.report.charts.bars import draw_column_sketch
from sfumato.tables._pipeline.presets import USUAL_READING
from sfumato.workbench._requests import readable_suffixes
from sfumato.workbench._session import Session

# The options of reading that the page offers: their name in a recipe, and the type of their field.
OPTIONS = (
    ("encoding", "text"),
    ("separator", "text"),
    ("decimal", "text"),
    ("thousands", "text"),
    ("date_format", "text"),
    ("skip_rows", "number"),
    ("skip_last", "number"),
    ("header", "choice"),
    ("names", "text"),
    ("sheet", "text"),
)


def page_context(desk: Session, say: Messages, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG001 - as all pages are called
    """Arrange the table, its columns and the options that it was read with."""
    source = desk.project.source
    reading, given = source.get("reading", {}), source.get("given", {})
    inspected = desk.inspection["attributes"]
    return {
        "accepted": ",".join(readable_suffixes()),
        "remarks": source.get("remarks", []),
        "options": [
            {
                "name": name,
                "type": kind,
                "found": _written(reading.get(name, USUAL_READING.get(name, ""))),
                "given": _written(given.get(name, "")),
            }
            for name, kind in OPTIONS
            if name in source.get("options", ())
        ],
        "sheets": source.get("sheets", []),
        "can_reread": "path" in source,
        "described": [
            {
                **column,
                "picture": draw_column_sketch(
                    details["bars"], title=column["name"], description=_column_row(say, details)
                ),
            }
            for column, details in zip(inspected, desk.details, strict=True)
        ],
    }


def _written(value: Any) -> Any:
    """Return the value of an option as its field has it."""
    if isinstance(value, tuple | list):
        return format_names(value)
    return str(value).lower() if isinstance(value, bool) else value


def _column_row(say: Messages, details: Mapping[str, Any]) -> str:
    return say(f"workbench_data.picture.{details['kind']}", n=len(details["bars"]))
