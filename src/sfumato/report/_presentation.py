"""Facts arranged for reading: what the pages show of them, in the words of a language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sfumato import _number_format
from sfumato._locale.messages import Messages
from sfumato.core._descriptions import ModelDescription
from sfumato.io._individuals import RowsPerIndividual
from sfumato.report.charts.bars import draw_attribute, draw_risk_histogram
from sfumato.report.guarantee import fill_model_text
from sfumato.report.texts import ENGLISH, masking_step_texts, metric_texts
from sfumato.tables.audit.audit import MergedValues, UnprotectedAttribute

if TYPE_CHECKING:
    from markupsafe import Markup

TextsByModel = Mapping[str, Mapping[str, str]]  # what the facts say of every model, in English


def embed_svg(picture: str) -> Markup:
    """Embed a picture in a page unescaped: `drawing` has escaped every text in it."""
    from markupsafe import Markup

    return Markup(picture)  # noqa: S704 - see above


def present_models(
    promised: Sequence[Mapping[str, Any]],
    judged: Sequence[Mapping[str, Any]],
    told: TextsByModel,
    say: Messages = ENGLISH,
) -> list[dict[str, Any]]:
    """Prepare every promise for reading: its words, the level that is reached, and the limit."""
    return [
        {
            **_verdict_row(verdict, told, say),
            "figures": _verdict_row(verdict, told, say),
            "words": _model_sentence(promise, told, say).removesuffix(".").removesuffix("。"),
            "before": _level_text(promise["before"], verdict, told, say) if "before" in promise else None,
            "violating": verdict.get("violating_records", 0),
            "parts": [_verdict_row(part, told, say) for part in verdict.get("parts", [])],
        }
        for promise, verdict in zip(promised, judged, strict=True)
    ]


def _model_sentence(promise: Mapping[str, Any], told: TextsByModel, say: Messages) -> str:
    words = _texts_of_model(promise["model"], told, say)
    return str(promise["words"]) if words.language == "en" else fill_model_text(promise, words)


def _texts_of_model(name: str, told: TextsByModel, say: Messages) -> ModelDescription:
    """Return the words of a model: those of the language, or the English ones that the facts tell."""
    own = ModelDescription(title=told[name]["title"], level=told[name]["level"], open=told[name]["open"])
    return own.translated(name, say)


def _verdict_row(verdict: Mapping[str, Any], told: TextsByModel, say: Messages) -> dict[str, Any]:
    words = _texts_of_model(verdict["model"], told, say)
    return {
        "title": words.title,
        "what": words.level,
        "compared": say(f"promises.compared.{told[verdict['model']]['compared']}"),
        "holds": verdict["holds"],
        "level": _level_text(verdict["level"], verdict, told, say),
        "limit": _level_text(verdict["limit"], verdict, told, say),
    }


def _level_text(number: float | str, judged: Mapping[str, Any], told: TextsByModel, say: Messages) -> str:
    written = _number_format.format_level(number, told[judged["model"]]["compared"])
    return say.get(f"page.number.{written}", written)


def present_other_levels(
    levels: Sequence[Mapping[str, Any]], told: TextsByModel, say: Messages
) -> list[dict[str, str]]:
    """Prepare the levels that the table reaches whether they are promised or not."""
    return [
        {
            "title": _texts_of_model(entry["model"], told, say).title,
            "sensitive": entry["sensitive"],
            "level": _level_text(entry["level"], entry, told, say),
            "what": _texts_of_model(entry["model"], told, say).level,
        }
        for entry in levels
    ]


def residual_risks(models: Sequence[str], told: TextsByModel, say: Messages) -> list[tuple[str, str]]:
    """List what the promises leave open: that of every model, and what they all do."""
    own = [(words.title, words.open) for words in (_texts_of_model(name, told, say) for name in dict.fromkeys(models))]
    return [*own, *(("", str(sentence)) for sentence in say.subset("promises.open").values())]


def present_unprotected(found: Sequence[Mapping[str, Any]], say: Messages) -> list[str]:
    """Say of every sensitive column without a promise what that costs."""
    plain = [{key: value for key, value in each.items() if key != "words"} for each in found]
    return [UnprotectedAttribute(**each).sentence.render(say) for each in plain]


def rows_counted_told(audit: Mapping[str, Any], say: Messages) -> list[str]:
    """Say of tables whose individuals have several rows that rows are counted."""
    return [RowsPerIndividual(**each).sentence.render(say) for each in audit.get("rows_counted", ())]


def merged_told(told: Mapping[str, Any], say: Messages) -> list[str]:
    """Say which values of sensitive columns look alike or overlap, and count as one."""
    plain = [{key: value for key, value in each.items() if key != "words"} for each in told.get("merged_values", ())]
    return [MergedValues(**each).sentence.render(say) for each in plain]


def present_masking(steps: Sequence[Mapping[str, Any]], say: Messages) -> list[dict[str, Any]]:
    """Prepare every masking step, with its warnings where it has any."""
    return [
        {
            **masking_step_texts(step, say),
            "warnings": [
                said if told is None else say.render(told)
                for said, told in zip(step.get("warnings", ()), step.get("warned", ()), strict=True)
            ],
        }
        for step in steps
    ]


def present_risks(measured: Mapping[str, Any], say: Messages) -> list[tuple[str, str, str]]:
    """Return the numbers behind the picture of risks, original and published."""
    before, after, smallest = measured["before"], measured["after"], measured["smallest_promised"]
    rows = {
        "records": _number_format.format_count,
        "groups": _number_format.format_count,
        "smallest_group": _number_format.format_count,
        "unique_records": _number_format.format_count,
        "records_below": _number_format.format_count,
        "highest_risk": _number_format.format_percent,
        "average_risk": _number_format.format_percent,
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


def attack_title(attack: str, sensitive: str | None, say: Messages, key: str = "titled") -> str:
    """Name an attack and the column that it is about."""
    title = say.get(f"attacks.attack.{attack}", attack)
    return say(f"attacks.{key}", attack=title, column=sensitive) if sensitive else title


def present_attack(each: Mapping[str, Any], say: Messages) -> dict[str, str]:
    """Prepare the row of one attack."""
    after, before = each["after"], each["before"]
    control = after["control"]
    rates = {key: _number_format.format_percent(after[key]) for key in ("rate", "low", "high")}
    return {
        "title": attack_title(each["attack"], each["sensitive"], say),
        "question": say.get(f"attacks.question.{each['question']}", each["question"]),
        "before": _number_format.format_percent(before["rate"]),
        "after": say("report.attacks.interval", **rates),
        "guessing": _number_format.format_percent(after["guessing"]),
        "control": "" if control is None else _number_format.format_percent(control),
        "allowed": "" if after["allowed"] is None else _number_format.format_percent(after["allowed"]),
        "verdict": say(f"attacks.verdict.{after['verdict']}"),
    }


def present_record_attacks(attacks: Sequence[Mapping[str, Any]], say: Messages) -> list[dict[str, Any]]:
    """Prepare the rows of the attacks that know the values before masking."""
    return [
        {
            **each,
            "title": attack_title(each["attack"], each["sensitive"], say, "titled_record"),
            "question": say.get(f"attacks.question.{each['question']}", each["question"]),
        }
        for each in attacks
    ]


def present_exposures(kinds: Sequence[Mapping[str, Any]], say: Messages) -> list[dict[str, Any]]:
    """Prepare the cards of all kinds of exposure: identities, then what is exposed most to the strongest adversary."""
    identity, *others = kinds
    others.sort(key=lambda kind: (-kind["everybody"]["maximum"], -kind["everybody"]["mean"]))
    return [_exposure_card(kind, say) for kind in (identity, *others)]


def _exposure_card(kind: Mapping[str, Any], say: Messages) -> dict[str, Any]:
    """Prepare the card of one kind of exposure: its picture, its figures, and the most exposed rows."""
    sides = [kind[side] for side in ("before", "after", "everybody")]
    rows = (
        ("highest", _number_format.format_percent, "maximum"),
        ("mean", _number_format.format_percent, "mean"),
        ("at_highest", _number_format.format_count, "at_maximum"),
    )
    return {
        "attribute": kind["attribute"],
        "picture": embed_svg(draw_risk_histogram(kind, say)),
        "rows": [
            (say(f"report.exposure.{title}"), *(write(side[key]) for side in sides)) for title, write, key in rows
        ],
        "riskiest": ", ".join(str(row) for row in kind["riskiest"]),
    }


def group_attributes(
    attributes: Sequence[Mapping[str, Any]], rows: Mapping[str, int], say: Messages
) -> list[dict[str, Any]]:
    """Group the cards of the attributes by role."""
    found = []
    for title, roles in (("quasi", ["quasi"]), ("unchanged", ["sensitive", "insensitive"])):
        cards = [
            {
                **attribute,
                "picture": embed_svg(draw_attribute(attribute, rows, say)),
                "starred": _number_format.format_percent(attribute["suppressed_cells"] / max(1, rows["published"])),
            }
            for attribute in attributes
            if attribute["role"] in roles
        ]
        found += [{"title": say(f"report.distributions.{title}"), "cards": cards}] if cards else []
    return found


def present_metrics(measures: Mapping[str, Any], say: Messages) -> list[dict[str, str]]:
    """Prepare what the release has lost: names, values, meanings and scales."""
    found = []
    for name, value in measures.items():
        words = metric_texts(name, say)
        text = value if isinstance(value, str) else _number_format.format_metric(value, share=words.share)
        found.append({"title": words.title, "value": text, "meaning": words.meaning, "scale": words.scale})
    return found


def present_column(column: Mapping[str, Any], say: Messages) -> dict[str, Any]:
    """Prepare the row of a published column: its role, its type and what its cells are."""
    forms = [say.get(f"kinds.forms.{form}", form) for form in column["forms"]]
    return {
        **column,
        "role_words": say.get(f"kinds.roles.{column['role']}", column["role"]),
        "type_words": say.get(f"kinds.types.{column['type']}", column["type"]),
        "form": say.join_items(forms) or say("page.missing"),
    }


def present_columns(facts: Mapping[str, Any], say: Messages) -> list[dict[str, Any]]:
    """Prepare the rows of all columns, published or not."""
    before = {attribute["name"]: attribute["distinct"]["before"] for attribute in facts["attributes"]}
    published = [
        {
            **present_column(column, say),
            "before": _number_format.format_count(before[column["name"]]) if column["name"] in before else "",
            "after": _number_format.format_count(column["distinct"]),
            "missing": _number_format.format_count(column["missing"]),
        }
        for column in facts["columns"]
    ]
    dropped = [(say("kinds.roles.identifier"), name) for name in facts["identifiers"]]
    dropped += [(say("report.columns.flags"), name) for name in facts["flags"]]
    dropped += [(say("report.columns.no_role"), name) for name in facts["left_out"]]
    unpublished = {"form": say("report.columns.unpublished"), "before": "", "after": "", "missing": ""}
    return [*published, *({"name": name, "role_words": role, **unpublished} for role, name in dropped)]


def falls_back_to_english(
    models: Sequence[str], measures: Sequence[str], steps: Sequence[Mapping[str, Any]], say: Messages
) -> bool:
    """Return whether a page in another language says something in English: what a plugin brings no other words for."""
    named = [f"models.{name}.title" for name in models]
    named += [f"measures.{name}.title" for name in measures] + [f"steps.{step['step']}.open" for step in steps]
    return say.language != "en" and not all(key in say for key in named)
