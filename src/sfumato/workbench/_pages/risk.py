"""Risk and attacks: what could still go wrong, measured by carrying it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato import _number_format
from sfumato._locale.messages import Messages
from sfumato.core.attack import AttackVerdict
from sfumato.report._presentation import embed_svg
from sfumato.report.charts.bars import draw_risk_histogram
from sfumato.report.charts.rates import draw_attack_track, draw_gauge
from sfumato.workbench._pages._context import chosen_candidate, parse_integer
from sfumato.workbench._requests import readable_suffixes
from sfumato.workbench._session import Session

LIGHTS = {True: "good", False: "bad", None: "amber"}
COLORS = {"broken": "bad", "open": "bad", "allowed": "good", "unsure": "amber", "fails": "good"}
VERDICTS = {AttackVerdict.BROKEN: "broken", AttackVerdict.ALLOWED: "allowed", AttackVerdict.NOT_LIMITED: "open"}
GAUGES = ("highest_risk", "average_risk", "share_below")
MAX_PEOPLE = 10**12
MAX_COLUMNS = 4  # of those that set a record apart


def page_context(desk: Session, say: Messages, query: Mapping[str, str]) -> dict[str, Any]:
    """Arrange gauges, attacks, lights, policies and exposure of the chosen candidate."""
    about = chosen_candidate(desk)
    asked, row = about["asked"], parse_integer(query.get("row"), 1, desk.rows)
    people = parse_integer(query.get("population"), 1, MAX_PEOPLE)
    wanted = {**asked, "population": people}
    assessed = desk.result("assess", **asked) if asked else None
    attacked = desk.result("attack", **asked) if asked else None
    exposed = desk.result("expose", **asked) if asked else None
    reasons = desk.result("reasons", **asked, row=row - 1) if asked and row else None
    found = about["found"]
    return {
        **about,
        "wanted": wanted,
        "population": people,
        "among": desk.result("assess", **wanted) if asked and people else None,
        "assessed": assessed,
        "gauges": [] if assessed is None else _gauges(assessed["risk"], say),
        "lights": [] if assessed is None else _traffic_lights(assessed["rules"].get("wp216"), say),
        "rules": [] if assessed is None else _rules(assessed["rules"], say),
        "attacked": attacked,
        "attacks": None if attacked is None else _attacks(attacked["attacks"], say),
        "exposed": exposed,
        "exposures": []
        if exposed is None
        else [_disclosure_risk_card(each, say) for each in exposed["exposure"] or ()],
        "outside": [] if found is None else [_external_attack_rows(each, desk, asked, say) for each in _tables(desk)],
        "keys": list(enumerate(desk.columns)),
        "accepted": ",".join(readable_suffixes()),
        "failed": desk.job if desk.job is not None and desk.job.state == "failed" else None,
        "row": row,
        "reasons": None if reasons is None else {**reasons, "without": reasons["without"][:MAX_COLUMNS]},
    }


def _gauges(risk: Mapping[str, Any], say: Messages) -> list[dict[str, Any]]:
    found = []
    for name in GAUGES:
        if name == "share_below" and risk["smallest_promised"] <= 1:
            continue
        title = say(f"workbench_risk.gauge.{name}", k=risk["smallest_promised"])
        sides = [(side, risk[side]) for side in ("before", "after") if risk[side] is not None]
        pictures = [
            draw_gauge(
                side[name],
                caption=say(f"workbench_risk.side.{which}"),
                title=f"{title}, {say(f'workbench_risk.side.{which}')}",
                published=which == "after",
            )
            for which, side in sides
        ]
        found.append({"title": title, "pictures": [embed_svg(each) for each in pictures]})
    return found


def _traffic_lights(judgment: Mapping[str, Any] | None, say: Messages) -> list[dict[str, Any]]:
    """Arrange the three questions of WP216; several sensitive columns are one question, answered by the worst."""
    if judgment is None:
        return []
    lights = []
    for question in ("singling out", "linkability", "inference"):
        findings = [each for each in judgment["findings"] if each["name"].startswith(question)]
        worst = min(findings, key=lambda each: (each["passed"] is not False, each["passed"] is not None))
        key = question.replace(" ", "_")
        lights.append(
            {
                "title": say(f"attacks.question.{question}"),
                "color": LIGHTS[worst["passed"]],
                "verdict": say(f"workbench_risk.verdict.{LIGHTS[worst['passed']]}"),
                "sentences": [_traffic_light_text(key, each, say) for each in findings],
            }
        )
    return lights


def _traffic_light_text(key: str, finding: Mapping[str, Any], say: Messages) -> str:
    figures, column = finding["figures"], finding["name"].removeprefix("inference of ")
    fields: dict[str, Any] = {**figures, "column": column}
    if key == "linkability" and finding["passed"] is False:
        said = "unique" if figures["unique_records"] else "named"
        return say(f"workbench_risk.light.{key}.{said}", **fields)
    if key == "inference" and not figures:
        return say("workbench_risk.light.inference.nothing")
    if key == "inference":
        fields["chance"] = _number_format.format_percent(figures["highest_chance"])
    return say(f"workbench_risk.light.{key}.{LIGHTS[finding['passed']]}", **fields)


def _rules(rules: Mapping[str, Any], say: Messages) -> list[dict[str, Any]]:
    """Arrange EMA and HIPAA: what is not passed or open is listed, what is passed is counted."""
    return [
        {
            "name": name,
            "title": say(f"workbench_risk.rule.{name}.title"),
            "passed": sum(each["passed"] is True for each in rules[name]["findings"]),
            "questions": len(rules[name]["findings"]),
            "limits": say(f"workbench_risk.rule.{name}.limits"),
            "findings": [
                {
                    "color": LIGHTS[each["passed"]],
                    "verdict": say(f"workbench_risk.verdict.{LIGHTS[each['passed']]}"),
                    "title": _rule_title(name, each, say),
                    "columns": each["columns"] if name == "hipaa" else [],
                }
                for each in rules[name]["findings"]
                if name == "ema" or each["passed"] is not True
            ],
        }
        for name in ("ema", "hipaa")
        if name in rules
    ]


def _rule_title(rule: str, finding: Mapping[str, Any], say: Messages) -> str:
    if rule == "ema":
        figures = finding["figures"]
        shares = {name: _number_format.format_percent(figures[name]) for name in figures if name.endswith("_risk")}
        return say(f"workbench_risk.rule.ema.{finding['name'].replace(' ', '_')}", **{**figures, **shares})
    name = finding["name"]
    key = "knowledge" if not name.startswith("(") else "ages" if "ages" in name else name[1].lower()
    return say(f"workbench_risk.rule.hipaa.{key}")


def _tables(desk: Session) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = desk.project.content.get("outside", [])
    return found


def _external_attack_rows(
    entry: Mapping[str, Any], desk: Session, asked: Mapping[str, Any], say: Messages
) -> dict[str, Any]:
    """Arrange what a table from outside gives away about the candidate."""
    wanted = {**asked, "file": entry["number"], **{name: entry[name] for name in ("kind", "key") if name in entry}}
    found = desk.result("outside", **wanted)
    job = desk.job
    failed = job is not None and job.verb == "outside" and job.state == "failed" and job.asked == wanted
    return {
        **entry,
        "asked": wanted,
        "rows": None if found is None else found["rows"],
        "problem": job.error if job is not None and failed else None,
        "attacks": None if found is None else [_attack(_attack_facts(each), say) for each in found["attacks"]],
        "skipped": [] if found is None else [say.get(f"attacks.attack.{name}", name) for name in found["skipped"]],
    }


def _attack_facts(result: Mapping[str, Any]) -> dict[str, Any]:
    """Arrange the result of an attack as the report has it, without an original."""
    low, high = result["interval"]
    control = result["control"] if result["control_targets"] else None
    after = {"rate": result["rate"], "low": low, "high": high, "guessing": result["baseline"], "control": control}
    after |= {name: result[name] for name in ("gains", "allowed", "verdict")}
    kept = {name: result[name] for name in ("attack", "question", "sensitive", "targets")}
    return {**kept, "before": None, "after": after}


def _attacks(listed: Sequence[Mapping[str, Any]] | None, say: Messages) -> list[dict[str, Any]] | None:
    return None if listed is None else [_attack(each, say) for each in listed]


def _attack(attack: Mapping[str, Any], say: Messages) -> dict[str, Any]:
    after, before, name = attack["after"], attack["before"], attack["attack"]
    title = say.get(f"attacks.attack.{name}", name)
    if attack["sensitive"]:
        title = say("workbench_risk.attack.titled", attack=title, column=attack["sensitive"])
    told = {key: _number_format.format_percent(after[key]) for key in ("rate", "low", "high", "guessing")}
    told["before"] = "" if before is None else _number_format.format_percent(before["rate"])
    told["control"] = "" if after["control"] is None else _number_format.format_percent(after["control"])
    description = say(f"workbench_risk.attack.{'told_alone' if before is None else 'told'}", **told)
    said = _attack_outcome(after)
    told["allowed"] = "" if after["allowed"] is None else _number_format.format_percent(after["allowed"])
    words = f"workbench_risk.attacks.{name}"
    why = f"{words}.{said}" if said in {"open", "fails"} else f"workbench_risk.attack.why_{said}"
    return {
        **told,
        "title": title,
        "question": say.get(f"attacks.question.{attack['question']}", attack["question"]),
        "verdict": say(f"workbench_risk.attack.{said}"),
        "meaning": say.join_sentences([say(f"{words}.what"), say(why, n=attack["targets"], **told)]),
        "color": COLORS[said],
        "targets": attack["targets"],
        "picture": embed_svg(draw_attack_track(attack, title=title, description=description)),
    }


def _attack_outcome(after: Mapping[str, Any]) -> str:
    """Return whether an attack breaks the guarantee, gains within it or without limit, or is not surely better."""
    known = VERDICTS.get(after["verdict"])
    if known is not None:
        return known
    return "unsure" if after["rate"] > max(after["guessing"], after["control"] or 0.0) else "fails"


def _disclosure_risk_card(kind: Mapping[str, Any], say: Messages) -> dict[str, Any]:
    sides = [kind[side] for side in ("before", "after", "everybody")]
    rows = (
        ("maximum", _number_format.format_percent),
        ("mean", _number_format.format_percent),
        ("at_maximum", _number_format.format_count),
    )
    named = kind["attribute"]
    return {
        "title": say("workbench_risk.exposure.identity")
        if named is None
        else say("workbench_risk.exposure.value", column=named),
        "picture": embed_svg(draw_risk_histogram(kind, say)),
        "rows": [
            (say(f"workbench_risk.exposure.{name}"), *(write(side[name]) for side in sides)) for name, write in rows
        ],
        "riskiest": [row + 1 for row in kind["riskiest"]],
    }
