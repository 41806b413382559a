"""Explore: all full-domain recodings at a glance, and candidates side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from sfumato import _number_format
from sfumato._locale.messages import Messages
from sfumato.report._presentation import embed_svg
from sfumato.report.charts.scatter import ScatterLabels, draw_solution_scatter
from sfumato.tables.algorithms.full_domain._losses import LOSSES
from sfumato.workbench._pages._context import chosen_candidate, metric_text, metric_title, parse_integer, parse_number
from sfumato.workbench._session import Session

Levels: TypeAlias = tuple[tuple[str, int], ...]
LETTERS = "ABCD"
MAX_SHOWN = 40  # solutions in the list
MAX_PINNED = len(LETTERS)
SAME = ("attributes", "models", "release", "masking")  # what a node and a candidate must agree on


def page_context(desk: Session, say: Messages, query: Mapping[str, str]) -> dict[str, Any]:
    """Arrange the solutions, those that pass the filters, and the candidates."""
    loss = query["by"] if query.get("by") in LOSSES else "loss"
    found = desk.result("explore", loss=loss)
    about, candidates = chosen_candidate(desk), {each["number"]: each for each in desk.candidates}
    pinned = sorted(candidates.keys() & set(desk.project.content.get("pinned", [])))
    letters = dict(zip(pinned[:MAX_PINNED], LETTERS, strict=False))
    asked, compared = {"candidates": list(letters)}, {number: candidates[number] for number in letters}
    return {
        **about,
        "losses": [(name, metric_title(say, name)) for name in LOSSES],
        "loss": loss,
        "can_explore": bool(desk.recipe.schema.quasi_identifiers) and not desk.recipe.masking,
        "explored": found,
        **(
            {"filters": None}
            if found is None
            else _solution_chart(found, desk, say, query, _letters_by_levels(desk, compared, letters))
        ),
        "listed": [_candidate(each, letters, pinned, about["found"]) for each in candidates.values()],
        "letters": letters,
        "compared": _compare_candidates(list(compared.values()), letters, desk, say),
        "compare_asked": asked,
        "deeper": _comparison_rows(desk.result("compare", **asked), letters, say) if len(letters) > 1 else None,
        "full": len(letters) >= MAX_PINNED,
        "fragment_of": {"algorithm": desk.recipe.to_dict()["algorithm"]},
    }


def _filters(found: Mapping[str, Any], desk: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """Read the filters of the address: levels at most by the number of a column, loss and share left out at most."""
    columns = {name: desk.columns.index(name) for name in found["heights"]}
    levels = {}
    for name, number in columns.items():
        top = found["heights"][name]
        most = parse_integer(query.get(f"l{number}"), 0, top)
        levels[name] = {"number": number, "top": top, "most": top if most is None else most}
    return {
        "levels": levels,
        "loss": parse_number(query.get("loss")),
        "suppressed": parse_number(query.get("suppressed")),
    }


def _passes(node: Mapping[str, Any], filters: Mapping[str, Any], rows: int) -> bool:
    return (
        all(node["levels"][name] <= each["most"] for name, each in filters["levels"].items())
        and (filters["loss"] is None or node["loss"] <= filters["loss"])
        and (filters["suppressed"] is None or node["suppressed"] <= filters["suppressed"] * rows)
    )


def _solution_chart(
    found: Mapping[str, Any], desk: Session, say: Messages, query: Mapping[str, str], at_levels: Mapping[Levels, str]
) -> dict[str, Any]:
    """Draw the solutions that pass the filters, and list the best of them."""
    filters = _filters(found, desk, query)
    kept = [each for each in found["ranked"] if _passes(each, filters, found["rows"])]
    marked = {}
    for at, node in enumerate(kept):
        letter = at_levels.get(tuple(sorted(node["levels"].items())))
        if letter is not None:
            marked[letter] = at
    if kept and found["best"] is not None and kept[0]["levels"] == found["best"]["levels"] and 0 not in marked.values():
        marked[say("workbench_explore.best")] = 0
    said = ScatterLabels(
        title=say("workbench_explore.picture.title"),
        description=say("workbench_explore.picture.told", n=len(kept), marks=list(marked)),
        loss=metric_title(say, found["objective"]),
        suppressed=say("workbench_explore.suppressed"),
    )
    back = {at: letter for letter, at in marked.items()}
    return {
        "filters": filters,
        "told": _solution_summary(found, say),
        "scatter": embed_svg(
            draw_solution_scatter(kept, found["rows"], marked=dict(sorted(marked.items())), said=said)
        ),
        "lattice": None if found["lattice"] is None else embed_svg(found["lattice"][say.language]),
        "kept": _filter_summary(found, len(kept), say),
        "nodes": [
            {**node, "number": found["ranked"].index(node), "letter": back.get(at, "")}
            for at, node in enumerate(kept[:MAX_SHOWN])
        ],
    }


def _solution_summary(found: Mapping[str, Any], say: Messages) -> str:
    """Say how many solutions there are, and whether the best of them is proven."""
    status, best = found["status"], found["best"]
    sentences = [
        say("workbench_explore.found", n=found["nodes"]),
        say("workbench_explore.counts", good=status["anonymous"], bad=status["not anonymous"]),
    ]
    if status["bounded"]:
        sentences.append(say("workbench_explore.bounded", n=status["bounded"]))
    if best is None:
        return say.join_sentences([*sentences, say("workbench_explore.no_solution")])
    fields = {
        name: _number_format.rounded(value, 6) for name, value in (("loss", best["loss"]), ("bound", found["bound"]))
    }
    proven = say("workbench_explore.proven", loss=fields["loss"])
    sentences.append(proven if found["proven"] else say("workbench_explore.gap", **fields))
    return say.join_sentences([*sentences, say("workbench_explore.corner")])


def _filter_summary(found: Mapping[str, Any], kept: int, say: Messages) -> str:
    """Say how many solutions pass the filters, and how many of them are listed."""
    fields = {"kept": kept, "judged": found["judged"], "shown": min(kept, MAX_SHOWN)}
    if found["judged"] > len(found["ranked"]):
        return say("workbench_explore.shown_of_best", listed=len(found["ranked"]), **fields)
    return say("workbench_explore.shown", **fields)


def _letters_by_levels(
    desk: Session, compared: Mapping[int, Mapping[str, Any]], letters: Mapping[int, str]
) -> dict[Levels, str]:
    """Return the letter of every pinned candidate that is a node of the current lattice, by its levels."""
    current = desk.recipe.to_dict()
    found = {}
    for number, each in compared.items():
        made = each["made"]
        same = all(made.get(name) == current.get(name) for name in SAME)
        if same and made["algorithm"]["name"] == "fixed-levels":
            found[tuple(sorted(made["algorithm"]["levels"].items()))] = letters[number]
    return found


def _candidate(
    each: Mapping[str, Any], letters: Mapping[int, str], pinned: Sequence[int], chosen: Mapping[str, Any] | None
) -> dict[str, Any]:
    made = each["made"]["algorithm"]
    levels = made.get("levels", {}) if made["name"] == "fixed-levels" else {}
    return {
        "number": each["number"],
        "letter": letters.get(each["number"], ""),
        "pinned": each["number"] in pinned,
        "chosen": chosen is not None and each["number"] == chosen["number"],
        "algorithm": each["algorithm"],
        "levels": ", ".join(f"{name} {level}" for name, level in levels.items()),
        "holds": each["audit"]["holds"],
        "outdated": each["outdated"],
        "suppressed": each["suppressed"],
        "loss": metric_text("loss", each["measures"].get("loss")),
    }


def _compare_candidates(
    chosen: Sequence[Mapping[str, Any]], letters: Mapping[int, str], desk: Session, say: Messages
) -> dict[str, Any] | None:
    """Arrange levels, measures and risk of pinned candidates, a column each."""
    if len(chosen) < 2:  # noqa: PLR2004 - one is not side by side with anything
        return None
    by_levels = [each["made"]["algorithm"].get("levels", {}) for each in chosen]
    names = [name for name in desk.columns if any(name in each for each in by_levels)]
    measures = list(dict.fromkeys(name for each in chosen for name in each["measures"]))
    return {
        "heads": [
            {
                "letter": letters[each["number"]],
                "number": each["number"],
                "algorithm": each["algorithm"],
                "holds": each["audit"]["holds"],
                "columns": each["columns"],
                "rows": each["records"],
            }
            for each in chosen
        ],
        "levels": [(name, [each.get(name) for each in by_levels]) for name in names],
        "risks": [
            (say("workbench_explore.risk.average"), [_average(each) for each in chosen]),
            (
                say("workbench_explore.risk.groups"),
                [_number_format.format_count(each["audit"]["groups"]) for each in chosen],
            ),
            (
                say("workbench_explore.risk.suppressed"),
                [_number_format.format_count(each["suppressed"]) for each in chosen],
            ),
        ],
        "measures": [
            (metric_title(say, name), [metric_text(name, each["measures"].get(name)) for each in chosen])
            for name in measures
        ],
    }


def _average(each: Mapping[str, Any]) -> str:
    return _number_format.format_percent(each["audit"]["groups"] / each["published"]) if each["published"] else ""


def _comparison_rows(
    found: Mapping[str, Any] | None, letters: Mapping[int, str], say: Messages
) -> list[tuple[str, list[str]]] | None:
    """Arrange what attacks and analysts find of every candidate."""
    if found is None:
        return None
    by_number = {each["name"]: each for each in found["candidates"]}
    chosen = [by_number[str(number)] for number in letters]
    lines = []
    kinds = list(dict.fromkeys(one["attribute"] for each in chosen for one in each["exposure"] or ()))
    for kind in kinds:
        title = say("workbench_explore.exposure", what=kind or say("workbench_risk.exposure.identity"))
        shares = [{one["attribute"]: one["mean"] for one in each["exposure"] or ()}.get(kind) for each in chosen]
        lines.append((title, ["" if share is None else _number_format.format_percent(share) for share in shares]))
    titles = list(dict.fromkeys((one["attack"], one["sensitive"]) for each in chosen for one in each["attacks"] or ()))
    for attack, sensitive in titles:
        named = say.get(f"attacks.attack.{attack}", attack)
        title = say("workbench_risk.attack.titled", attack=named, column=sensitive) if sensitive else named
        rates = [{(one["attack"], one["sensitive"]): one["rate"] for one in each["attacks"] or ()} for each in chosen]
        lines.append(
            (
                title,
                [
                    _number_format.format_percent(rate[attack, sensitive]) if (attack, sensitive) in rate else ""
                    for rate in rates
                ],
            )
        )
    for name in list(dict.fromkeys(name for each in chosen for name in each["utility"])):
        values = [each["utility"].get(name) for each in chosen]
        shown = ["" if value is None else _number_format.rounded(value, 3) for value in values]
        lines.append((say.get(f"measures.utility.{name}", name), shown))
    return lines
