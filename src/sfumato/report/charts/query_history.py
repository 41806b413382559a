"""A history of questions as a picture: who asked when, what was answered and what was denied."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from sfumato.errors import InvalidParameterError
from sfumato.queries.query_history import RecordedQuery

SIZE, GAP = 18, 4
LEFT, TOP = 110, 28
ANSWERED, DENIED = "#0072B2", "#D55E00"
LETTERS = 14
MOST = 200


def draw_query_history(history: Sequence[RecordedQuery]) -> str:
    """Draw questions in order, one line per user (SVG): full squares were answered, crossed ones denied."""
    if not 0 < len(history) <= MOST:
        raise InvalidParameterError(f"A picture shows 1 to {MOST} questions, but there are {len(history)}.")
    users = list(dict.fromkeys(each.user for each in history))
    parts = [_user_label(line, user) for line, user in enumerate(users)]
    parts += [_query_mark(place, users.index(each.user), each) for place, each in enumerate(history)]
    width = LEFT + len(history) * (SIZE + GAP) + GAP
    height = TOP + len(users) * (SIZE + GAP) + GAP
    counted = sum(not each.denied for each in history)
    title = f"{len(history)} questions: {counted} answered, {len(history) - counted} denied"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {max(width, 320)} {height}" width="{max(width, 320)}" '
        f'height="{height}" font-family="sans-serif" role="img"><text x="{GAP}" y="16" font-size="12" '
        f'fill="currentColor">{title}</text>{"".join(parts)}</svg>'
    )


def _user_label(line: int, user: str) -> str:
    shown = user if len(user) <= LETTERS else user[: LETTERS - 1] + "…"
    y = TOP + line * (SIZE + GAP) + SIZE - 5
    return f'<text x="{GAP}" y="{y}" font-size="11" fill="currentColor">{escape(shown)}</text>'


def _query_mark(place: int, line: int, asked: RecordedQuery) -> str:
    x, y = LEFT + place * (SIZE + GAP), TOP + line * (SIZE + GAP)
    color = DENIED if asked.denied else ANSWERED
    cross = f'<path d="M{x} {y}l{SIZE} {SIZE}m0 {-SIZE}l{-SIZE} {SIZE}" stroke="{color}"/>' if asked.denied else ""
    fill = "none" if asked.denied else color
    return (
        f'<g><title>{escape(asked.question)}</title><rect x="{x}" y="{y}" width="{SIZE}" height="{SIZE}" fill="{fill}" '
        f'stroke="{color}"/>{cross}</g>'
    )
