"""`sfumato formats`: what tables are read from and written to."""

from __future__ import annotations

from sfumato.cli.choices import ListEntry, print_choices
from sfumato.cli.options import Json, format_examples
from sfumato.table.formats.base import Format
from sfumato.table.formats.known import FORMATS

FORMAT_EXAMPLES = format_examples("sfumato formats", "sfumato formats --json")


def list_formats(*, json: Json = False) -> None:
    """List the formats: what tables are read from and written to."""
    print_choices(FORMATS, _describe_format, json=json)


def _describe_format(form: Format) -> ListEntry:
    marks = [*form.suffixes, *(f"{scheme}://" for scheme in form.schemes)]
    told = [form.kind[:1].upper() + form.kind[1:]]
    told += ["only read"] if form.write is None else ["only written"] if form.read is None else []
    told += [f"reading takes {', '.join(form.read_options)}"] if form.read_options else []
    told += [f"writing takes {', '.join(form.write_options)}"] if form.write_options else []
    told += [f'needs pip install "sfumato[{form.extra}]"'] if form.extra else []
    return ListEntry(
        facts={
            "name": form.name,
            "kind": form.kind,
            "marks": marks,
            "reading": None if form.read is None else list(form.read_options),
            "writing": None if form.write is None else list(form.write_options),
            "extra": form.extra or None,
        },
        first=f"{form.name}  ({', '.join(marks)})",
        sentences=(f"{'; '.join(told)}.",),
    )
