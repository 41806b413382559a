"""Facts arranged for reading: what the pages show of them, in the words of a language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sfumato.judging.audit.audit import MergedValues
from sfumato.judging.audit.unpromised import Unpromised
from sfumato.models.words import ModelWords
from sfumato.reporting import numbers
from sfumato.reporting.pictures import attribute_picture, exposure_columns
from sfumato.reporting.public import promise_words
from sfumato.reporting.words import ENGLISH, measure_words, step_words
from sfumato.table.persons import RowsPerIndividual
from sfumato.words import Words

if TYPE_CHECKING:
    from markupsafe import Markup

Told = Mapping[str, Mapping[str, str]]  # what the facts say of every model, in English


def drawn(picture: str) -> Markup:
    """Embed a picture in a page unescaped: `drawing` has escaped every text in it."""
    from markupsafe import Markup

    return Markup(picture)  # noqa: S704 - see above


def promises_told(
    promised: Sequence[Mapping[str, Any]], judged: Sequence[Mapping[str, Any]], told: Told, say: Words = ENGLISH
) -> list[dict[str, Any]]:
    """Prepare every promise for reading: its words, the level that is reached, and the limit."""
    return [
        {
            **_part(verdict, told, say),
            "figures": _part(verdict, told, say),
            "words": _promise(promise, told, say).removesuffix(".").removesuffix("。"),
            "before": _level(promise["before"], verdict, told, say) if "before" in promise else None,
            "violating": verdict.get("violating_records", 0),
            "parts": [_part(part, told, say) for part in verdict.get("parts", [])],
        }
        for promise, verdict in zip(promised, judged, strict=True)
    ]


def _promise(promise: Mapping[str, Any], told: Told, say: Words) -> str:
    words = _model(promise["model"], told, say)
    return str(promise["words"]) if words.language == "en" else promise_words(promise, words)


def _model(name: str, told: Told, say: Words) -> ModelWords:
    """Return the words of a model: those of the language, or the English ones that the facts tell."""
    own = ModelWords(title=told[name]["title"], level=told[name]["level"], open=told[name]["open"])
    return own.translated(name, say)


def _part(verdict: Mapping[str, Any], told: Told, say: Words) -> dict[str, Any]:
    words = _model(verdict["model"], told, say)
    return {
        "title": words.title,
        "what": words.level,
        "compared": say(f"promises.compared.{told[verdict['model']]['compared']}"),
        "holds": verdict["holds"],
        "level": _level(verdict["level"], verdict, told, say),
        "limit": _level(verdict["limit"], verdict, told, say),
    }


def _level(number: float | str, judged: Mapping[str, Any], told: Told, say: Words) -> str:
    written = numbers.level(number, told[judged["model"]]["compared"])
    return say.known(f"page.number.{written}", written)


def other_levels(levels: Sequence[Mapping[str, Any]], told: Told, say: Words) -> list[dict[str, str]]:
    """Prepare the levels that the table reaches whether they are promised or not."""
    return [
        {
            "title": _model(entry["model"], told, say).title,
            "sensitive": entry["sensitive"],
            "level": _level(entry["level"], entry, told, say),
            "what": _model(entry["model"], told, say).level,
        }
        for entry in levels
    ]


def open_points(models: Sequence[str], told: Told, say: Words) -> list[tuple[str, str]]:
    """List what the promises leave open: that of every model, and what they all do."""
    own = [(words.title, words.open) for words in (_model(name, told, say) for name in dict.fromkeys(models))]
    return [*own, *(("", str(sentence)) for sentence in say.under("promises.open").values())]


def unpromised_told(found: Sequence[Mapping[str, Any]], say: Words) -> list[str]:
    """Say of every sensitive column without a promise what that costs."""
    plain = [{key: value for key, value in each.items() if key != "words"} for each in found]
    return [Unpromised(**each).sentence.in_words(say) for each in plain]


def rows_counted_told(audit: Mapping[str, Any], say: Words) -> list[str]:
    """Say of tables whose individuals have several rows that rows are counted."""
    return [RowsPerIndividual(**each).sentence.in_words(say) for each in audit.get("rows_counted", ())]


def merged_told(told: Mapping[str, Any], say: Words) -> list[str]:
    """Say which values of sensitive columns look alike or overlap, and count as one."""
    plain = [{key: value for key, value in each.items() if key != "words"} for each in told.get("merged_values", ())]
    return [MergedValues(**each).sentence.in_words(say) for each in plain]


def masking_told(steps: Sequence[Mapping[str, Any]], say: Words) -> list[dict[str, Any]]:
    """Prepare every masking step, with its warnings where it has any."""
    return [
        {
            **step_words(step, say),
            "warnings": [
                said if told is None else say.again(told)
                for said, told in zip(step.get("warnings", ()), step.get("warned", ()), strict=True)
            ],
        }
        for step in steps
    ]


def risk_rows(measured: Mapping[str, Any], say: Words) -> list[tuple[str, str, str]]:
    """Return the numbers behind the picture of risks, original and published."""
    before, after, smallest = measured["before"], measured["after"], measured["smallest_promised"]
    rows = {
        "records": numbers.count,
        "groups": numbers.count,
        "smallest_group": numbers.count,
        "unique_records": numbers.count,
        "records_below": numbers.count,
        "highest_risk": numbers.percent,
        "average_risk": numbers.percent,
    }
    return [
        (
            say(f"report.risk.{key}", smallest=str(smallest)),
            "" if before is None else write(before[key]),
            write(after[key]),
        )
        for key, write in rows.items()
        if key != "records_below" or smallest > 1
    ]


def attack_title(attack: str, sensitive: str | None, say: Words, key: str = "titled") -> str:
    """Name an attack and the column that it is about."""
    title = say.known(f"attacks.attack.{attack}", attack)
    return say(f"attacks.{key}", attack=title, column=sensitive) if sensitive else title


def attacked(each: Mapping[str, Any], say: Words) -> dict[str, str]:
    """Prepare the row of one attack."""
    after, before = each["after"], each["before"]
    control = after["control"]
    rates = {key: numbers.percent(after[key]) for key in ("rate", "low", "high")}
    return {
        "title": attack_title(each["attack"], each["sensitive"], say),
        "question": say.known(f"attacks.question.{each['question']}", each["question"]),
        "before": numbers.percent(before["rate"]),
        "after": say("report.attacks.interval", **rates),
        "guessing": numbers.percent(after["guessing"]),
        "control": "" if control is None else numbers.percent(control),
        "allowed": "" if after["allowed"] is None else numbers.percent(after["allowed"]),
        "verdict": say(f"attacks.verdict.{after['verdict']}"),
    }


def records_attacked(attacks: Sequence[Mapping[str, Any]], say: Words) -> list[dict[str, Any]]:
    """Prepare the rows of the attacks that know the values before masking."""
    return [
        {
            **each,
            "title": attack_title(each["attack"], each["sensitive"], say, "titled_record"),
            "question": say.known(f"attacks.question.{each['question']}", each["question"]),
        }
        for each in attacks
    ]


def worst_first(kinds: Sequence[Mapping[str, Any]], say: Words) -> list[dict[str, Any]]:
    """Prepare the cards of all kinds of exposure: identities, then what is exposed most to the strongest adversary."""
    identity, *others = kinds
    others.sort(key=lambda kind: (-kind["everybody"]["maximum"], -kind["everybody"]["mean"]))
    return [_exposed(kind, say) for kind in (identity, *others)]


def _exposed(kind: Mapping[str, Any], say: Words) -> dict[str, Any]:
    """Prepare the card of one kind of exposure: its picture, its figures, and the most exposed rows."""
    sides = [kind[side] for side in ("before", "after", "everybody")]
    rows = (
        ("highest", numbers.percent, "maximum"),
        ("mean", numbers.percent, "mean"),
        ("at_highest", numbers.count, "at_maximum"),
    )
    return {
        "attribute": kind["attribute"],
        "picture": drawn(exposure_columns(kind, say)),
        "rows": [
            (say(f"report.exposure.{title}"), *(write(side[key]) for side in sides)) for title, write, key in rows
        ],
        "riskiest": ", ".join(str(row) for row in kind["riskiest"]),
    }


def families(attributes: Sequence[Mapping[str, Any]], rows: Mapping[str, int], say: Words) -> list[dict[str, Any]]:
    """Group the cards of the attributes by role."""
    found = []
    for title, roles in (("quasi", ["quasi"]), ("unchanged", ["sensitive", "insensitive"])):
        cards = [
            {
                **attribute,
                "picture": drawn(attribute_picture(attribute, rows, say)),
                "starred": numbers.percent(attribute["suppressed_cells"] / max(1, rows["published"])),
            }
            for attribute in attributes
            if attribute["role"] in roles
        ]
        found += [{"title": say(f"report.distributions.{title}"), "cards": cards}] if cards else []
    return found


def measures_told(measures: Mapping[str, Any], say: Words) -> list[dict[str, str]]:
    """Prepare what the release has lost: names, values, meanings and scales."""
    found = []
    for name, value in measures.items():
        words = measure_words(name, say)
        text = value if isinstance(value, str) else numbers.measure(value, share=words.share)
        found.append({"title": words.title, "value": text, "meaning": words.meaning, "scale": words.scale})
    return found


def described(column: Mapping[str, Any], say: Words) -> dict[str, Any]:
    """Prepare the row of a published column: its role, its type and what its cells are."""
    forms = [say.known(f"kinds.forms.{form}", form) for form in column["forms"]]
    return {
        **column,
        "role_words": say.known(f"kinds.roles.{column['role']}", column["role"]),
        "type_words": say.known(f"kinds.types.{column['type']}", column["type"]),
        "form": say.listed(forms) or say("page.missing"),
    }


def columns_told(facts: Mapping[str, Any], say: Words) -> list[dict[str, Any]]:
    """Prepare the rows of all columns, published or not."""
    before = {attribute["name"]: attribute["distinct"]["before"] for attribute in facts["attributes"]}
    published = [
        {
            **described(column, say),
            "before": numbers.count(before[column["name"]]) if column["name"] in before else "",
            "after": numbers.count(column["distinct"]),
            "missing": numbers.count(column["missing"]),
        }
        for column in facts["columns"]
    ]
    dropped = [(say("kinds.roles.identifier"), name) for name in facts["identifiers"]]
    dropped += [(say("report.columns.flags"), name) for name in facts["flags"]]
    dropped += [(say("report.columns.no_role"), name) for name in facts["left_out"]]
    unpublished = {"form": say("report.columns.unpublished"), "before": "", "after": "", "missing": ""}
    return [*published, *({"name": name, "role_words": role, **unpublished} for role, name in dropped)]


def speaks_english(
    models: Sequence[str], measures: Sequence[str], steps: Sequence[Mapping[str, Any]], say: Words
) -> bool:
    """Return whether a page in another language says something in English: what a plugin brings no other words for."""
    named = [f"models.{name}.title" for name in models]
    named += [f"measures.{name}.title" for name in measures] + [f"steps.{step['step']}.open" for step in steps]
    return say.language != "en" and not all(key in say for key in named)
