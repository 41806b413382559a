"""What requests say: their bodies and queries, checked."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request

from sfumato.exceptions import InvalidParameterError

MOST = 64 << 20  # bytes of what is no file


async def json_body(request: Request) -> dict[str, Any]:
    """Return the JSON object that a request has for its body."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST:
            raise InvalidParameterError(f"The body of this request has more than {MOST:,} bytes; send it as a file.")
    try:
        content = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise InvalidParameterError("The body of this request must be a JSON object.")
    return content


def is_recipe_change(given: object) -> bool:
    """Return whether something is a place in a recipe and a value."""
    return (
        isinstance(given, list)
        and len(given) == 2  # noqa: PLR2004 - a place and a value
        and isinstance(given[0], list)
        and bool(given[0])
        and all(isinstance(name, str) for name in given[0])
    )


def query_integer(request: Request, name: str, usual: int) -> int:
    """Return a whole number of a query."""
    given = request.query_params.get(name, str(usual))
    if not (given.isascii() and given.isdecimal()) or len(given) > 18:  # noqa: PLR2004 - digits of the largest number
        raise InvalidParameterError(f"{name} must be a whole number.")
    return int(given)
