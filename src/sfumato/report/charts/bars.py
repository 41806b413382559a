"""The pictures of a report, as vector graphics without scripts: dark on white, readable without colors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sfumato._locale.messages import Messages
from sfumato._number_format import format_count, format_percent
from sfumato.mining.hiding import HidingResult
from sfumato.report.charts.svg import (
    AFTER,
    BEFORE,
    BEFORE_EDGE,
    FAINT,
    INK,
    LINE,
    QUIET,
    draw_line,
    hatched,
    polyline,
    rectangle,
    svg_document,
    text_line,
    text_width,
    wrap_text,
)
from sfumato.report.texts import ENGLISH

PAIRED_WIDTH = 380.0
PAIRED_LEFT, RIGHT, TOP, BOTTOM = 42.0, PAIRED_WIDTH - 8, 34.0, 204.0  # of the axes below columns
COLUMNS = 18  # of a label beside bars
NUMBER_HEIGHT = 12.0  # of a number over a column
LETTER = 6.8  # the approximate width of a letter of 11 points
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
MAX_LINES = 5
MAX_NUMBERED = 9
THOUSAND, MILLION = 1_000, 1_000_000


def draw_legend(say: Messages = ENGLISH) -> str:
    """Draw the legend: which bars are before and which after."""
    shapes = [
        rectangle(1, 3, 12, 12, fill=BEFORE, edge=BEFORE_EDGE),
        text_line(19, 13, say("pictures.original")),
        rectangle(81, 3, 12, 12, fill=AFTER),
        text_line(99, 13, say("pictures.published")),
    ]
    description = say("pictures.legend_told")
    return svg_document(160, 18, title=say("pictures.legend"), description=description, shapes=shapes)


def draw_class_sizes(sizes: Sequence[Mapping[str, Any]], smallest: int, say: Messages = ENGLISH) -> str:
    """Draw the share of records in groups of every size, with a line at the smallest size promised."""
    sides = [[size["records"][side] for size in sizes] for side in ("before", "after")]
    classes = [
        (_short_tick(size["from"]), say("pictures.groups_of", size=class_size_text(size, say))) for size in sizes
    ]
    shapes, told = _draw_paired_columns(sides, classes, say("pictures.sizes_axis"), say)
    step = (RIGHT - PAIRED_LEFT) / len(sizes)
    shapes += _limit_line(PAIRED_LEFT + step * [size["from"] for size in sizes].index(smallest), BOTTOM, smallest, say)
    description = say("pictures.sizes_told", told=told, smallest=str(smallest))
    return svg_document(PAIRED_WIDTH, BOTTOM + 44, title=say("pictures.sizes"), description=description, shapes=shapes)


def draw_risk_histogram(kind: Mapping[str, Any], say: Messages = ENGLISH) -> str:
    """Draw the share of people at every exposure to an adversary who knows their quasi-identifiers."""
    sides = [list(reversed(kind[side]["histogram"].values())) for side in ("before", "after")]
    names = list(reversed(kind["before"]["histogram"]))
    classes = [(_lower_end(name), say("pictures.exposure_of", range=range_text(name, say))) for name in names]
    shapes, told = _draw_paired_columns(sides, classes, say("pictures.exposure_axis"), say)
    title = say("pictures.exposure", what=kind["attribute"] or say("pictures.identity"))
    description = say("pictures.exposure_told", told=told)
    return svg_document(PAIRED_WIDTH, BOTTOM + 44, title=title, description=description, shapes=shapes)


def draw_risk_bars(measured: Mapping[str, Any], say: Messages = ENGLISH) -> str:
    """Draw the risks of the original and the published table as pairs of bars from 0 to 100%."""
    smallest = measured["smallest_promised"]
    rows = ["highest_risk", "average_risk", "unique", *(["share_below"] if smallest > 1 else [])]
    long, shapes, told = PAIRED_WIDTH - 58, [], []
    for at, key in enumerate(rows):
        y, title = 16 + at * 60.0, say(f"pictures.risks.{key}", smallest=str(smallest))
        before, after = (_risk_of(measured[side], key) for side in ("before", "after"))
        told.append(say("pictures.both", what=title, before=format_percent(before), after=format_percent(after)))
        shapes.append(text_line(0.5, y, title, size=12.5, weight=600))
        for offset, share, fill, edge in ((7, before, BEFORE, BEFORE_EDGE), (25, after, AFTER, "none")):
            shapes.append(rectangle(0.5, y + offset, long, 14, fill="#f3f5f8"))
            shapes.append(rectangle(0.5, y + offset, long * share, 14, fill=fill, edge=edge if share else "none"))
            shapes.append(
                text_line(PAIRED_WIDTH, y + offset + 11.5, format_percent(share), size=12, anchor="end", weight=600)
            )
    height = 16 + len(rows) * 60 - 12
    description = say("pictures.all_told", told=say("pictures.between_sentences").join(told))
    return svg_document(PAIRED_WIDTH, height, title=say("pictures.risk"), description=description, shapes=shapes)


def draw_histogram(attribute: Mapping[str, Any], rows: Mapping[str, int], say: Messages = ENGLISH) -> str:
    """Draw bins of numbers or dates: bars for the original, a stepped line for the published table.

    Suppressed cells become one hatched bar beside the axis.
    """
    left, right, top, bottom = 42.0, PAIRED_WIDTH - 8, 12.0, 158.0
    bars = [{**each, "text": range_text(each["text"], say)} for each in attribute["bars"]]
    hidden = _unpublished(attribute, say)
    before, after = _shares([*bars, *hidden], rows)
    most = max([*before, *after]) or 1.0
    shapes = _share_axis(most, left, right, top, bottom)
    if hidden:
        zone = text_width(hidden[0]["text"]) * LETTER + 12
        right -= zone
        height, middle = (bottom - top) * after[-1] / most, right + zone / 2
        tip = say("pictures.value_tip", what=hidden[0]["text"], share=format_percent(after[-1]))
        shapes.append(hatched(middle - 14, bottom - height, 28, height, ink=AFTER, tip=tip))
        shapes.append(text_line(middle, bottom + 16, hidden[0]["text"], size=11, ink=QUIET, anchor="middle"))
    step, high = (right - left) / len(bars), bottom - top
    steps: list[tuple[float, float]] = [(left, bottom)]
    for at, entry in enumerate(bars):
        x = left + at * step
        height = high * before[at] / most
        tip = say(
            "pictures.both", what=entry["text"], before=format_percent(before[at]), after=format_percent(after[at])
        )
        shapes.append(rectangle(x + 0.5, bottom - height, step - 1, height, fill=BEFORE, edge=BEFORE_EDGE, tip=tip))
        y = bottom - high * after[at] / most
        steps += [(x, y), (x + step, y)]
    shapes += [
        draw_line(left, bottom, RIGHT, bottom, ink=QUIET),
        polyline([*steps, (right, bottom)], ink=AFTER, width=2.4),
    ]
    backwards = attribute["bars"][-1]["text"].endswith("or more")
    shapes += _bin_labels([entry["text"] for entry in bars], (left, right), bottom, backwards=backwards)
    told = _describe_bars([*bars, *hidden], before, after, say)
    return svg_document(PAIRED_WIDTH, bottom + 24, title=_title(attribute, say), description=told, shapes=shapes)


def draw_value_bars(attribute: Mapping[str, Any], rows: Mapping[str, int], say: Messages = ENGLISH) -> str:
    """Draw values as pairs of bars, the original above the published one; suppressed cells as a hatched bar."""
    bars = [*attribute["bars"], *_other_bars(attribute, say)]
    before, after = _shares(bars, rows)
    most = max([*before, *after, 0]) or 1.0
    left, tall = 134.0, 32.0
    long = PAIRED_WIDTH - left - 44
    shapes: list[str] = [draw_line(left, 0, left, tall * len(bars), ink=QUIET)]
    for at, entry in enumerate(bars):
        y = at * tall
        lines = wrap_text(entry["text"], COLUMNS, 2) if entry["text"].strip() else [say("pictures.empty")]
        start = y + tall / 2 + 4 - 6.5 * (len(lines) - 1)
        for number, text in enumerate(lines):
            ink = QUIET if entry.get("quiet") else INK
            shapes.append(text_line(left - 8, start + 13 * number, text, size=11.5, ink=ink, anchor="end"))
        for offset, share, fill, edge in ((4.5, before[at], BEFORE, BEFORE_EDGE), (16, after[at], AFTER, "none")):
            width = long * share / most
            tip = say("pictures.value_tip", what=entry["text"], share=format_percent(share))
            if entry.get("hatched"):
                shapes.append(hatched(left + 0.5, y + offset, width, 10.5, ink=fill, tip=tip))
            else:
                outline = edge if share else "none"
                shapes.append(rectangle(left + 0.5, y + offset, width, 10.5, fill=fill, edge=outline, tip=tip))
            shapes.append(text_line(left + width + 5, y + offset + 9, format_percent(share), size=10, ink=QUIET))
    told = _describe_bars(bars, before, after, say)
    return svg_document(
        PAIRED_WIDTH, tall * max(1, len(bars)), title=_title(attribute, say), description=told, shapes=shapes
    )


def draw_attribute(attribute: Mapping[str, Any], rows: Mapping[str, int], say: Messages = ENGLISH) -> str:
    """Draw an attribute before and after: bins or values."""
    return (draw_histogram if attribute["kind"] == "bins" else draw_value_bars)(attribute, rows, say)


def _draw_paired_columns(
    sides: Sequence[Sequence[int]], classes: Sequence[tuple[str, str]], axis: str, say: Messages
) -> tuple[list[str], str]:
    """Draw shares of records by class as pairs of columns; return the shapes, and the same in words.

    A class is given by the tick at its left end and its name.
    """
    shares = [[records / max(1, sum(side)) for records in side] for side in sides]
    step = (RIGHT - PAIRED_LEFT) / len(classes)
    shapes, labels = _share_axis(1.0, PAIRED_LEFT, RIGHT, TOP, BOTTOM), []
    for at, (tick, name) in enumerate(classes):
        x, thick = PAIRED_LEFT + at * step, 0.38 * step
        numbered = _label_heights([BOTTOM - 4 - side[at] * (BOTTOM - TOP) for side in shares])
        for side, fill, edge in ((0, BEFORE, BEFORE_EDGE), (1, AFTER, "none")):
            table = say("pictures.published" if side else "pictures.original")
            share, start = shares[side][at], x + (0.10 + 0.42 * side) * step
            height = share * (BOTTOM - TOP)
            records = format_count(sides[side][at])
            tip = say("pictures.class_tip", table=table, name=name, records=records, share=format_percent(share))
            outline = edge if share else "none"
            shapes.append(rectangle(start, BOTTOM - height, thick, height, fill=fill, edge=outline, tip=tip))
            if share and len(classes) <= MAX_NUMBERED:
                middle = start + thick / 2
                text = format_percent(share)
                labels.append(text_line(middle, numbered[side], text, size=10.5, ink=INK, anchor="middle", halo=True))
        if at % (1 + len(classes) // 14) == 0:
            shapes.append(text_line(x, BOTTOM + 16, tick, size=11, ink=QUIET, anchor="middle"))
        shapes.append(draw_line(x, BOTTOM, x, BOTTOM + 4, ink=QUIET))
    shapes.append(draw_line(PAIRED_LEFT, BOTTOM, RIGHT, BOTTOM, ink=QUIET))
    shapes.append(text_line((PAIRED_LEFT + RIGHT) / 2, BOTTOM + 36, axis, size=11, ink=QUIET, anchor="middle"))
    before, after = (
        say.join_items(
            say("pictures.class_share", name=name, share=format_percent(share))
            for (_, name), share in zip(classes, side, strict=True)
            if share
        )
        for side in shares
    )
    return [*shapes, *labels], say("pictures.sides_told", before=before, after=after)


def _label_heights(heights: Sequence[float]) -> list[float]:
    """Raise the upper of two adjacent numbers if they would overlap; otherwise leave both in place.

    >>> _label_heights([100.0, 96.0]), _label_heights([100.0, 40.0]), _label_heights([100.0, 200.0])
    ([100.0, 88.0], [100.0, 40.0], [100.0, 200.0])
    """
    upper, lower = sorted(heights)
    if lower == BOTTOM - 4 or lower - upper >= NUMBER_HEIGHT:
        return list(heights)
    moved = lower - NUMBER_HEIGHT
    return [lower, moved] if heights[0] == lower else [moved, lower]


def _lower_end(name: str) -> str:
    """Return the tick at the left end of a class of exposures.

    >>> [_lower_end(name) for name in ("1", "1/5 to 1/2", "below 1/20")]
    ['1', '1/5', '0']
    """
    return "0" if name.startswith("below") else name.partition(" ")[0]


def _share_axis(most: float, left: float, right: float, top: float, bottom: float) -> list[str]:
    step = next((step for step in STEPS if most / step <= MAX_LINES), STEPS[-1])
    shapes = []
    for number in range(int(most / step + 1e-9) + 1):
        y = bottom - (bottom - top) * number * step / most
        shapes.append(draw_line(left, y, right, y, ink=FAINT))
        shapes.append(text_line(left - 6, y + 4, f"{number * step:.0%}", size=11, ink=QUIET, anchor="end"))
    return shapes


def _bin_labels(texts: Sequence[str], ends: tuple[float, float], bottom: float, *, backwards: bool) -> list[str]:
    """Label the bins between two ends of an axis as far as there is space; the last one first if it is open."""
    left, right = ends
    step, limit = (right - left) / len(texts), min(PAIRED_WIDTH, right + PAIRED_WIDTH - RIGHT)
    every = math.ceil((max(text_width(text) for text in texts) * LETTER + 10) / step)
    shapes: list[str] = []
    taken: list[tuple[float, float]] = []
    for at in range(len(texts) - 1, -1, -every) if backwards else range(0, len(texts), every):
        middle, half = left + (at + 0.5) * step, text_width(texts[at]) * LETTER / 2
        place = min(max(middle, half), limit - half)
        if all(place + half + 4 <= start or stop + 4 <= place - half for start, stop in taken):
            taken.append((place - half, place + half))
            shapes.append(draw_line(middle, bottom, middle, bottom + 4, ink=QUIET))
            shapes.append(text_line(place, bottom + 16, texts[at], size=11, ink=QUIET, anchor="middle"))
    return shapes


def _limit_line(x: float, bottom: float, smallest: int, say: Messages) -> list[str]:
    if smallest <= 1:
        return []
    text = say("pictures.promised", smallest=str(smallest))
    beyond = x + 6 + text_width(text) * 6.4 > PAIRED_WIDTH
    label = text_line(
        x - 6 if beyond else x + 6, 14, text, size=12, ink=LINE, weight=600, anchor="end" if beyond else "start"
    )
    return [draw_line(x, 4, x, bottom, ink=LINE, width=2, dashes="5 4"), label]


def _risk_of(side: Mapping[str, Any], key: str) -> float:
    return float(side["unique_records"] / side["records"] if key == "unique" else side[key])


def _shares(bars: Sequence[Mapping[str, Any]], rows: Mapping[str, int]) -> tuple[list[float], list[float]]:
    before = [entry["before"] / max(1, rows["original"]) for entry in bars]
    return before, [entry["after"] / max(1, rows["published"]) for entry in bars]


def _other_bars(attribute: Mapping[str, Any], say: Messages) -> list[dict[str, Any]]:
    """Make bars for the values that are not named, and for the missing cells."""
    other, missing = attribute["other"], attribute["missing"]
    found = []
    if other["values"]:
        found.append({**other, "text": say("pictures.others", n=other["values"]), "quiet": True})
    if missing["before"] or missing["after"]:
        found.append({**missing, "text": say("pictures.missing"), "quiet": True})
    return [*found, *_unpublished(attribute, say)]


def _unpublished(attribute: Mapping[str, Any], say: Messages) -> list[dict[str, Any]]:
    """Make a bar for the suppressed cells, if there are any."""
    n = attribute["suppressed_cells"]
    text = say("pictures.unpublished")
    return [{"before": 0, "after": n, "text": text, "quiet": True, "hatched": True}] if n else []


def _title(attribute: Mapping[str, Any], say: Messages) -> str:
    return say("pictures.distribution", what=attribute["name"])


def _describe_bars(
    bars: Sequence[Mapping[str, Any]], before: Sequence[float], after: Sequence[float], say: Messages
) -> str:
    parts = [
        say("pictures.value_told", what=entry["text"], before=format_percent(first), after=format_percent(second))
        for entry, first, second in zip(bars, before, after, strict=True)
    ]
    return say("pictures.shares_told", told=say("pictures.between").join(parts))


def class_size_text(size: Mapping[str, Any], say: Messages = ENGLISH) -> str:
    """Write a range of group sizes: 5 to 9, or 100 or more."""
    low, high = str(size["from"]), size["to"]
    if high is None:
        return say("pictures.or_more", low=low)
    return low if high == size["from"] else say("pictures.to", low=low, high=str(high))


def range_text(text: str, say: Messages) -> str:
    """Write the range of a bin or of exposures, as the facts tell it, in the words of a language.

    >>> from sfumato._locale.messages import load_messages
    >>> [range_text(text, load_messages("zh")) for text in ("20 or more", "below 1/20", "-5 to 5", "20-24")]
    ['20 及以上', '1/20 以下', '-5 至 5', '20-24']
    """
    if text.endswith(" or more"):
        return say("pictures.or_more", low=text.removesuffix(" or more"))
    if text.startswith("below "):
        return say("pictures.below", high=text.removeprefix("below "))
    low, between, high = text.partition(" to ")
    return say("pictures.to", low=low, high=high) if between else text


def _short_tick(number: int) -> str:
    """Format a tick: 20, 5k, 1M."""
    if number >= MILLION and number % MILLION == 0:
        return f"{number // MILLION}M"
    return f"{number // THOUSAND}k" if number >= THOUSAND and number % THOUSAND == 0 else str(number)


# A small picture of one column: a bar for every bin or value.

COLUMN_WIDTH, HEIGHT = 200.0, 48.0


def draw_column_sketch(bars: Sequence[Mapping[str, Any]], *, title: str, description: str) -> str:
    """Draw bars of a text and a count each, beside each other.

    >>> draw_column_sketch([{"text": "a", "count": 3}], title="sex", description="1 value").count("<rect")
    1
    """
    most = max((each["count"] for each in bars), default=0)
    wide = COLUMN_WIDTH / max(len(bars), 1)
    shapes = [
        rectangle(
            at * wide,
            HEIGHT - HEIGHT * each["count"] / most,
            max(wide - 1, 0.5),
            HEIGHT * each["count"] / most,
            fill=BEFORE,
            edge=BEFORE_EDGE,
            tip=f"{each['text']}: {format_count(each['count'])}",
        )
        for at, each in enumerate(bars)
        if most
    ]
    return svg_document(COLUMN_WIDTH, HEIGHT, title=title, description=description, shapes=shapes)


# Pictures of hiding patterns: what each method costs.

ROW, BAR, HIDING_LEFT, HIDING_WIDTH = 62.0, 13.0, 90.0, 380.0
HIDING_COSTS = (("lost rules", AFTER, "none"), ("ghost rules", LINE, "none"), ("changed cells", BEFORE, BEFORE_EDGE))


def draw_hiding_costs(hidings: Iterable[HidingResult]) -> str:
    """Draw lost rules, ghost rules and changed cells for several ways to hide the same patterns, as SVG."""
    listed = list(hidings)
    figures = [(len(each.lost_rules), len(each.ghost_rules), each.changed) for each in listed]
    most = max((max(each) for each in figures), default=1) or 1
    shapes = []
    for number, (hiding, counts) in enumerate(zip(listed, figures, strict=True)):
        top = 10 + ROW * number
        failed = "" if hiding.hidden else f" ({hiding.visible_patterns} seen)"
        shapes += [text_line(HIDING_LEFT - 12, top + 16, hiding.method, anchor="end", weight=600)]
        shapes += [text_line(HIDING_LEFT - 12, top + 32, failed, anchor="end", size=11, ink=LINE)] if failed else []
        for place, (count, (kind, fill, edge)) in enumerate(zip(counts, HIDING_COSTS, strict=True)):
            y = top + place * (BAR + 3)
            shapes += [
                rectangle(
                    HIDING_LEFT, y, HIDING_WIDTH * count / most, BAR, fill=fill, edge=edge, tip=f"{count:,} {kind}"
                ),
                text_line(HIDING_LEFT + HIDING_WIDTH * count / most + 6, y + 11, f"{count:,}", size=11, ink=INK),
            ]
    key = 10 + ROW * len(listed) + 14
    for place, (kind, fill, edge) in enumerate(HIDING_COSTS):
        x = HIDING_LEFT + 125 * place
        shapes += [rectangle(x, key - 10, 16, 10, fill=fill, edge=edge), text_line(x + 22, key, kind, ink=QUIET)]
    told = "; ".join(
        f"{hiding.method}: {lost} lost, {ghost} ghost, {changed} cells"
        for hiding, (lost, ghost, changed) in zip(listed, figures, strict=True)
    )
    return svg_document(
        HIDING_LEFT + HIDING_WIDTH + 50,
        key + 14,
        title="What hiding costs",
        description=f"By method. {told}.",
        shapes=shapes,
    )
