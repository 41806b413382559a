"""Writes the picture and the table of packages into docs/explanation/architecture.md, from the import contract."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "sfumato"
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
BEGIN = "<!-- written by python scripts/architecture_picture.py -->\n"
END = "<!-- end of what is written -->\n"

WIDTH, ROW, GAP = 760, 26, 4
COLORS = {
    "tables": "#3584c8",
    "transactions": "#459a4a",
    "graphs": "#459a4a",
    "trajectories": "#459a4a",
    "core": "#b8860b",
    "report": "#8a5fb0",
}
LEGEND = (("tables", "tables"), ("transactions", "other data types"), ("core", "core"), ("report", "report"))


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), "utf-8")


def page() -> str:
    """Return the page with the current picture and table."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{picture(layers())}\n\n{table()}\n{END}{after}"


def layers() -> list[list[str]]:
    """Return the modules of every layer of the first contract, from top to bottom."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    return [
        [name.removeprefix("sfumato.") for name in layer.replace(":", "|").replace(" ", "").split("|")]
        for layer in contract["layers"]
    ]


def picture(rows: Sequence[Sequence[str]]) -> str:
    """Draw one row of boxes per layer, as plain SVG in the colors of the page."""
    height = (len(rows) + 1) * (ROW + GAP) + GAP
    said = "; ".join(", ".join(row) for row in rows)
    parts = [
        '<figure class="picture">',
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" font-size="12">',
        f"<title>Packages and modules by layer</title><desc>{said}: imports go downwards only.</desc>",
    ]
    for place, (name, label) in enumerate(LEGEND):
        parts.append(text(4 + place * 150, 17, f'<tspan fill="{COLORS[name]}">&#9632;</tspan> {label}'))
    for number, row in enumerate(rows, 1):
        parts += boxes(row, number * (ROW + GAP))
    return "\n".join([*parts, "</svg>", "</figure>"])


def boxes(row: Sequence[str], y: float) -> Iterator[str]:
    """Draw the modules of one layer side by side, as wide as their names."""
    total = sum(len(name) + 2 for name in row)
    x, room = 0.0, WIDTH - GAP * (len(row) - 1)
    for name in row:
        width = room * (len(name) + 2) / total
        ink = COLORS.get(name.partition(".")[0], "currentColor")
        share = 0.06 if ink == "currentColor" else 0.2
        yield (
            f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW}" rx="3" fill="{ink}" '
            f'fill-opacity="{share}" stroke="{ink}" stroke-opacity="0.5"/>'
        )
        yield text(x + width / 2, y + 17, escape(name), anchor="middle")
        x += width + GAP


def text(x: float, y: float, content: str, *, anchor: str = "start") -> str:
    """Return a line of text in the color of the page."""
    return f'<text x="{x:.1f}" y="{y:g}" text-anchor="{anchor}" fill="currentColor">{content}</text>'


def packages() -> list[str]:
    """Return the names of all packages and of all public modules at the top."""
    found = [path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("_")]
    for path in PACKAGE.rglob("__init__.py"):
        name = ".".join(path.parent.relative_to(PACKAGE).parts)
        if name and "_kernels" not in name:
            found.append(name)
    return sorted(found)


def purpose(name: str) -> str:
    """Return the first line of the docstring of a package or module."""
    home = PACKAGE.joinpath(*name.split("."))
    path = home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]


def table() -> str:
    """Return the table of packages with what each is for."""
    return "\n".join(["| package | what it is for |", "|---|---|", *(f"| `{n}` | {purpose(n)} |" for n in packages())])


if __name__ == "__main__":
    main()
