"""A proposed recipe as TOML, with the reasons as comments above the lines they explain."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from sfumato import __version__
from sfumato.cli.printing import printable
from sfumato.models.base import GroupModel
from sfumato.models.k_anonymity import KAnonymity
from sfumato.release.presets import PRESETS, USUAL_K
from sfumato.release.proposing import USUAL, propose_recipe

WIDTH = 100

if TYPE_CHECKING:
    from sfumato.inspection.detect import ColumnProposal, Inspection
    from sfumato.release.presets import Preset
    from sfumato.table.read import LoadedTable


def commented_recipe(source: str, found: Inspection, loaded: LoadedTable, preset: str | None = None) -> str:
    """Write a recipe that can be run on the inspected table as it stands, or edited first."""
    import tomli_w

    recipe = propose_recipe(found, loaded.table, reading=loaded.reading, preset=preset)
    content = recipe.to_dict()
    attributes, models = content.pop("attributes"), content.pop("models")
    algorithm = {"algorithm": content.pop("algorithm")}
    source_table = {"input": content.pop("input", {})}
    reasons = {each.name: each.reasons for each in found.proposals}
    parts = [
        _comment_wrapper(
            f"Proposed by sfumato {__version__} for {source}: {found.rows:,} rows, {len(found.proposals):,} columns.",
            "Check every role, then run: sfumato anonymize FILE --recipe THIS --out DIR",
            "Roles: identifier (never published), quasi (others may know it; generalized),",
            "sensitive (nobody should learn it), insensitive (published unchanged).",
        ),
        tomli_w.dumps(content) + _counted(found),
        _comment_wrapper("The table, and how it is read.", *loaded.remarks) + tomli_w.dumps(source_table),
    ]
    parts += [
        _comment_wrapper(*reasons[name]) + tomli_w.dumps({"attributes": {name: entry}})
        for name, entry in attributes.items()
    ]
    chosen = PRESETS[preset or USUAL]
    parts += [_comment_wrapper(*_left_out(each, chosen)) for each in found.proposals if each.name not in attributes]
    parts += [_comment_wrapper(*wrap(f"{chosen.title}: {chosen.reason}", WIDTH)).rstrip()]
    parts += [
        _comment_wrapper(*_model_comment(model, found, preset)) + "[[models]]\n" + tomli_w.dumps(entry)
        for model, entry in zip(recipe.models, models, strict=True)
    ]
    return "\n".join([*parts, tomli_w.dumps(algorithm)])


def _left_out(column: ColumnProposal, chosen: Preset) -> list[str]:
    sentence = (
        f"Column {column.name!r} is left out: it is sensitive, and {column.commonest:.0%} of its values are the same "
        f"or missing, so nothing keeps {chosen.title!r}, where none may be more than one in {chosen.l} of a group."
    )
    return wrap(sentence, WIDTH)


def _counted(found: Inspection) -> str:
    """Say below the section of the release that individuals have several rows, if they do."""
    if found.rows_counted is None:
        return ""
    wrapped = wrap(found.rows_counted.sentence, WIDTH)
    return _comment_wrapper(*wrapped, "To go on all the same:") + "# count_rows = true\n"


def _model_comment(model: GroupModel, found: Inspection, preset: str | None) -> list[str]:
    sentences = [] if model.description is None else wrap(model.description.sentence(model.parameters()), WIDTH)
    lowered = preset is None and isinstance(model, KAnonymity) and found.rows < USUAL_K
    return [*sentences, *([f"The table has only {found.rows} rows."] if lowered else [])]


def _comment_wrapper(*lines: str) -> str:
    return "".join(f"# {printable(line)}\n" for line in lines)
