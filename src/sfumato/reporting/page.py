"""A page: HTML that stands alone, to be shown in a notebook or saved."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path

from sfumato.table.atomic import atomic_path

HEIGHT = "44rem"


@dataclass(frozen=True, repr=False)
class Page:
    """A page of HTML that loads nothing from outside; a notebook shows it, `save` writes it."""

    title: str
    html: str

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file; an older file is replaced."""
        with atomic_path(Path(path)) as temporary:
            temporary.write_text(self.html, encoding="utf-8", newline="\n")

    def __repr__(self) -> str:
        return f"{self.title}: a page of {len(self.html) // 1000:,} kB; save it with .save(path)"

    def _repr_html_(self) -> str:
        """Show the page in a frame of its own, so that its style and the notebook's do not mix."""
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.html)}" sandbox="" '
            f'style="width: 100%; height: {HEIGHT}; border: 1px solid #b8c1cb"></iframe>'
        )
