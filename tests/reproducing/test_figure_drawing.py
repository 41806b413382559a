"""Figures as files: pictures, numbers, findings, and what is never overwritten."""

from __future__ import annotations

import csv
from math import nan

import pytest
from papers._reproduction import Figure, FigureFinding, FigureLine, Reproduction, check_matplotlib, write_reproduction

from sfumato import _optional
from sfumato.errors import WriteError


@pytest.fixture
def found() -> Reproduction:
    plain = Figure(
        "1.2", "Growth", "l", "seconds", (FigureLine("slow", (5, 8), (1.5, nan)), FigureLine("fast", (5, 8), (1, 2)))
    )
    spread = Figure("1.3", "Spread", "k", "error", (FigureLine("a", (1, 2), (10, 1000), (0.5, 3)),), log_y=True)
    findings = (
        FigureFinding("1.2", "fast is fast", seen=True, why="It is."),
        FigureFinding("1.3", "b, too", seen=False, why="No b."),
    )
    return Reproduction((plain, spread), findings)


def rows(path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_pictures_numbers_and_findings_are_written(found, tmp_path):
    out = tmp_path / "out"
    write_reproduction(found, out)
    kinds = {"png": b"\x89PNG", "svg": b"<?xml"}
    for name in ("1.2", "1.3"):
        for kind, start in kinds.items():
            assert (out / f"figure-{name}.{kind}").read_bytes().startswith(start)
    assert rows(out / "figure-1.2.csv") == [
        ["line", "l", "seconds"],
        ["slow", "5", "1.5"],
        ["slow", "8", ""],
        ["fast", "5", "1"],
        ["fast", "8", "2"],
    ]
    assert rows(out / "figure-1.3.csv")[1:] == [["a", "1", "10", "0.5"], ["a", "2", "1000", "3"]]
    assert rows(out / "findings.csv")[1:] == [
        ["1.2", "fast is fast", "yes", "It is."],
        ["1.3", "b, too", "no", "No b."],
    ]
    assert len(list(out.iterdir())) == 7


def test_labels_units_and_titles_are_in_the_picture(found, tmp_path):
    write_reproduction(found, tmp_path / "out")
    picture = (tmp_path / "out" / "figure-1.2.svg").read_text("utf-8")
    for text in ("slow", "fast", "seconds", "Figure 1.2. Growth"):
        assert text in picture


def test_the_same_figure_gives_the_same_file(found, tmp_path):
    for name in ("a", "b"):
        write_reproduction(found, tmp_path / name)
    assert (tmp_path / "a" / "figure-1.3.svg").read_bytes() == (tmp_path / "b" / "figure-1.3.svg").read_bytes()


def test_an_older_reproduction_is_replaced_completely(found, tmp_path):
    write_reproduction(found, tmp_path / "out")
    write_reproduction(Reproduction(found.figures[:1], found.findings), tmp_path / "out")
    assert not (tmp_path / "out" / "figure-1.3.png").exists()


@pytest.mark.parametrize("name", ["notes.txt", "figure-1.2.txt", "findings.csv"])
def test_what_no_reproduction_wrote_is_left_alone(found, tmp_path, name):
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text("mine", "utf-8")
    with pytest.raises(WriteError, match="no reproduction wrote"):
        write_reproduction(found, out)
    assert (out / name).read_text("utf-8") == "mine"


def test_a_missing_library_is_told_in_one_sentence(monkeypatch):
    def absent(module: str) -> None:
        raise ModuleNotFoundError(name=module)

    monkeypatch.setattr(_optional.importlib, "import_module", absent)
    with pytest.raises(WriteError, match=r'matplotlib is needed; install it with pip install "sfumato\[plots\]"'):
        check_matplotlib()
