"""Bad requests: exit code 2, one sentence on the error stream, no traceback, and never a cell value."""

from __future__ import annotations

import errno
import json
import os

import pyarrow as pa
import pytest

import sfumato as sf

CANARY = "xyzzy"  # stands in every table below, and in no message
ROWS = [(f"{CANARY}{i}", 20 + i % 7, ["cook", "nurse", CANARY][i % 3], ["flu", "cold"][i % 2]) for i in range(30)]
HEAD = "name,age,job,disease\n"
TABLE = HEAD + "".join(",".join(map(str, row)) + "\n" for row in ROWS)
ROLES = ["--identifier", "name", "--quasi", "age,job", "--sensitive", "disease"]
GOOD = [*ROLES, "--k", "2"]
RECIPE = '[attributes.job]\nrole = "quasi"\n%s\n[[models]]\nname = "k-anonymity"\nk = 2\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with tables that are good, bad and broken."""
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    return tmp_path


def write_tables(folder):
    """Fill the present folder with tables that are good, bad and broken."""
    texts = {
        "t.csv": TABLE,
        "empty.csv": "",
        "no_rows.csv": HEAD,
        "three.csv": "".join(TABLE.splitlines(keepends=True)[:4]),
        "semicolons.csv": TABLE.replace(",", ";"),
        "uneven.csv": TABLE + f"{CANARY},1\n",
        "quotes.csv": TABLE + f'"{CANARY},1,cook,flu\n',
        "mixed.csv": TABLE.replace("20", CANARY),
        "infinite.csv": TABLE.replace(",20,", ",inf,").replace(",21,", ",-inf,").replace(",22,", ",nan,"),
        "many.csv": "job\n" + "".join(f"{CANARY}{i}\n" for i in range(100_001)),
        "misses.csv": "cook;a;*\nnurse;a;*\n",
        "no_function.csv": f"cook;a;*\nnurse;a;*\n{CANARY};a;x\n{CANARY}2;b;*\n",
        "ragged.csv": f"cook;a;*\n{CANARY};*\n",
        "commas.csv": f"cook,a,*\n{CANARY},a,*\n",
        "diseases.csv": f"flu;lung;*\n{CANARY};gut;*\n",
        "not_toml.toml": f"{CANARY} = = 1\n",
        "strange.toml": '[attribute.age]\nrole = "quasi"\n',
        "no_role.toml": '[attributes.age]\nscale = "numeric"\n',
        "numeric.toml": RECIPE % 'scale = "numeric"',
        "order.toml": RECIPE % 'order = ["cook", "nurse"]',
        "file.toml": RECIPE % '[attributes.job.hierarchy]\nkind = "taxonomy"\nfile = "absent.csv"',
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "folder").mkdir()
    (folder / "latin.csv").write_bytes(TABLE.replace("cook", "k\u00f6chin").encode("latin-1"))
    sf.write(sf.read(folder / "t.csv"), folder / "t.parquet")
    whole = (folder / "t.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (folder / "fake.xlsx").write_text(CANARY, "utf-8")
    (folder / "fake.db").write_text(CANARY * 100, "utf-8")
    sf.write(pa.table({"age": [1, 2]}), "sqlite:///real.db", table_name="people")
    sf.write(sf.read(folder / "t.csv"), "duckdb:///real.duckdb", table_name="people")


BAD = {
    "unknown column": (["t.csv", *GOOD, "--quasi", "agee"], "'agee', which is not in the table; did you mean 'age'?"),
    "role twice": (["t.csv", *GOOD, "--sensitive", "age"], "listed twice, as quasi and as sensitive"),
    "role twice alike": (["t.csv", *GOOD, "--quasi", "age"], "listed twice, as quasi and as quasi"),
    "no quasi-identifier": (["t.csv", "--sensitive", "disease", "--k", "2"], "No column is a quasi-identifier"),
    "no list of columns": (["t.csv", *GOOD, "--quasi", "age\njob"], "is not a list"),
    "no promise": (["t.csv", *ROLES], "Nothing is promised"),
    "k = 0": (["t.csv", *ROLES, "--k", "0"], "k of k-anonymity must be a whole number of at least 1; got 0."),
    "k below 0": (["t.csv", *ROLES, "--k", "-3"], "k of k-anonymity must be"),
    "l = 0": (
        ["t.csv", *GOOD, "--model", "distinct-l-diversity:l=0,sensitive=disease"],
        "l of distinct-l-diversity must be",
    ),
    "l no number": (
        ["t.csv", *GOOD, "--model", "entropy-l-diversity:l=x,sensitive=disease"],
        "l of entropy-l-diversity must",
    ),
    "t above 1": (["t.csv", *GOOD, "--model", "t-closeness:t=1.5,sensitive=disease"], "t of t-closeness must be"),
    "t below 0": (["t.csv", *GOOD, "--model", "t-closeness:t=-0.1,sensitive=disease"], "t of t-closeness must be"),
    "t not a number": (["t.csv", *GOOD, "--model", "t-closeness:t=nan,sensitive=disease"], "t of t-closeness must be"),
    "unknown distance": (
        ["t.csv", *GOOD, "--model", "t-closeness:t=0.1,sensitive=disease,distance=far"],
        "distance of t-closeness must be",
    ),
    "ordered without order": (
        ["t.csv", *GOOD, "--model", "t-closeness:t=0.5,sensitive=disease,distance=ordered"],
        "has no order",
    ),
    "unknown model": (["t.csv", *GOOD, "--model", "l-diversity:l=2"], "There is no model 'l-diversity'"),
    "unknown parameter": (["t.csv", *GOOD, "--model", "k-anonymity:q=2"], "unknown entry 'q'"),
    "parameter without value": (["t.csv", *GOOD, "--model", "k-anonymity:k"], "'k' has no value"),
    "lacking parameter": (["t.csv", *GOOD, "--model", "t-closeness:t=0.1"], "needs sensitive"),
    "not sensitive": (
        ["t.csv", *GOOD, "--model", "distinct-l-diversity:l=2,sensitive=age"],
        "but its role is not sensitive",
    ),
    "unknown algorithm": (["t.csv", *GOOD, "--algorithm", "mondrain"], "did you mean 'mondrian'?"),
    "share above 1": (["t.csv", *GOOD, "--max-suppressed", "1.5"], "--max-suppressed must be a share"),
    "seed below 0": (["t.csv", *GOOD, "--seed", "-1"], "--seed must be"),
    "unknown policy": (["t.csv", *GOOD, "--missing", "ignore"], "must be one of own-value, matches-all"),
    "hierarchy for nobody": (["t.csv", *GOOD, "--hierarchy", "zip=prefixes"], "'zip', which has no role"),
    "hierarchy without file": (["t.csv", *GOOD, "--hierarchy", "job"], "--hierarchy must be COLUMN=HOW"),
    "hierarchy absent": (
        ["t.csv", *GOOD, "--hierarchy", "job=absent.csv"],
        "There is no file 'absent.csv'; a hierarchy is intervals:5,10",
    ),
    "hierarchy misses values": (["t.csv", *GOOD, "--hierarchy", "job=misses.csv"], "misses 1 of the 3 values"),
    "hierarchy no function": (["t.csv", *GOOD, "--hierarchy", "job=no_function.csv"], "is not a function of level"),
    "hierarchy ragged": (["t.csv", *GOOD, "--hierarchy", "job=ragged.csv"], "Line 2 of ragged.csv has 2 columns"),
    "hierarchy by commas": (["t.csv", *GOOD, "--hierarchy", "job=commas.csv"], "misses 1 of the 3 values"),
    "intervals of text": (["t.csv", *GOOD, "--hierarchy", "job=intervals:5"], "need a column of numbers"),
    "intervals not nested": (["t.csv", *GOOD, "--hierarchy", "age=intervals:5,7"], "widths of intervals must be"),
    "intervals without width": (["t.csv", *GOOD, "--hierarchy", "age=intervals"], "widths of intervals must be"),
    "prefixes of words": (["t.csv", *GOOD, "--hierarchy", "age=prefixes:x"], "lengths of prefixes must be"),
    "sensitive outside taxonomy": (["t.csv", *GOOD, "--hierarchy", "disease=diseases.csv"], "misses 1 of the 2 values"),
    "empty file": (["empty.csv", *GOOD], "empty.csv is empty"),
    "no rows": (["no_rows.csv", *GOOD], "The table has no rows"),
    "fewer rows than k": (["three.csv", *ROLES, "--k", "5"], "reaches 3, 5 is needed"),
    "fewer values than l": (
        ["t.csv", *GOOD, "--model", "distinct-l-diversity:l=3,sensitive=disease"],
        "reaches 2, 3 is needed",
    ),
    "mixed types": (["mixed.csv", *GOOD, "--hierarchy", "age=intervals:5"], "Intervals of numbers need"),
    "infinities": (["infinite.csv", *GOOD, "--hierarchy", "age=intervals:5"], "'age' contains infinite values"),
    "too many values": (["many.csv", "--quasi", "job", "--k", "2"], "has 100,001 distinct values"),
    "absent file": (["absent.csv", *GOOD], "There is no file absent.csv"),
    "a folder": (["folder", *GOOD], "is a folder"),
    "unknown suffix": (["not_toml.toml", *GOOD], "has no known suffix"),
    "wrong separator": (["t.csv", *GOOD, "--separator", ";"], "seems to be separated by ','"),
    "long separator": (["t.csv", *GOOD, "--separator", "--"], "--separator must be"),
    "uneven lines": (["uneven.csv", *GOOD], "line 32 has 2"),
    "open quotes": (["quotes.csv", *GOOD], "quotation mark"),
    "wrong encoding": (["latin.csv", *GOOD, "--encoding", "utf-8"], "utf-8"),
    "unknown encoding": (["t.csv", *GOOD, "--encoding", "utf-9"], "utf-9"),
    "truncated Parquet": (["cut.parquet", *GOOD], "cut.parquet"),
    "no workbook": (["fake.xlsx", *GOOD], "fake.xlsx"),
    "sheet of a text file": (["t.csv", *GOOD, "--sheet", "one"], "--sheet must be left out"),
    "table of a file": (["t.csv", *GOOD, "--table", "one"], "--table must be left out"),
    "unknown database": (["oracle://host/db", *GOOD, "--table", "t"], "'oracle' is not a known kind of database"),
    "absent database": (["sqlite:///absent.db", *GOOD, "--table", "t"], "There is no database file"),
    "no database": (["sqlite:///fake.db", *GOOD, "--table", "t"], "fake.db"),
    "no table named": (["sqlite:///real.db", *GOOD], "real.db has the table 'people'; pass --table or --query."),
    "absent table": (["sqlite:///real.db", *GOOD, "--table", "peple"], "did you mean 'people'?"),
    "wrong query": (["sqlite:///real.db", *GOOD, "--query", "select agee from people"], "The query cannot be run"),
    "query that fails on a cell": (
        ["duckdb:///real.duckdb", *GOOD, "--query", "select job::int as age from people"],
        "the query fails on its data",
    ),
    "wrong PostgreSQL": (["postgresql://ann:secret@127.0.0.1:1/db", *GOOD, "--table", "t"], "ann:***@127.0.0.1"),
    "absent recipe": (["t.csv", "--recipe", "absent.toml"], "The recipe absent.toml cannot be read"),
    "recipe no TOML": (["t.csv", "--recipe", "not_toml.toml"], "is not valid TOML"),
    "recipe with a typing error": (["t.csv", "--recipe", "strange.toml"], "did you mean 'attributes'?"),
    "recipe without roles": (["t.csv", "--recipe", "no_role.toml"], "needs a role"),
    "recipe calls text numeric": (["t.csv", "--recipe", "numeric.toml"], "'job' should be numeric but has text"),
    "recipe's order misses values": (
        ["t.csv", "--recipe", "order.toml"],
        "1 distinct values that are not in its order",
    ),
    "recipe names an absent file": (["t.csv", "--recipe", "file.toml"], "Cannot read absent.csv"),
    "database URL for --to": (["t.csv", *GOOD, "--to", "x.db", "--to-table", "x"], "--to must be a database URL"),
}


@pytest.mark.parametrize(("arguments", "says"), BAD.values(), ids=BAD)
def test_a_bad_request_is_one_sentence(run, folder, arguments, says):
    before = sorted(folder.iterdir())
    result = run("anonymize", *arguments, "--out", folder / "out")
    assert says in result.stderr
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("sfumato: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    assert CANARY not in result.stderr
    assert "secret" not in result.stderr
    assert sorted(folder.iterdir()) == before


def test_the_good_request_beside_them_is_served(run, folder):
    result = run("anonymize", "t.csv", *GOOD, "--out", "out")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert json.loads((folder / "out" / "public" / "promise.json").read_text("utf-8"))


BAD_AUDITS = {
    "absent": ["absent.csv", "--quasi", "age"],
    "identifier": ["t.csv", *ROLES],
    "no columns": ["t.csv", "--k", "2"],
    "column lacks": ["t.csv", "--quasi", "zip"],
    "no rows": ["no_rows.csv", "--quasi", "age"],
    "correspondence alone": ["t.csv", "--quasi", "age", "--correspondence", "t.parquet"],
    "no correspondence": ["t.csv", "--quasi", "age", "--original", "t.csv", "--correspondence", "t.csv"],
    "other original": ["t.csv", "--quasi", "age", "--original", "three.csv"],
}


@pytest.mark.parametrize("arguments", BAD_AUDITS.values(), ids=BAD_AUDITS)
def test_a_bad_audit_is_one_sentence(run, folder, arguments):  # noqa: ARG001 - the files of the folder are read
    result = run("audit", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("sfumato: ")
    assert result.stderr.count("\n") == 1
    assert CANARY not in result.stderr


def no_space(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_nothing_behind(run, folder, monkeypatch):
    monkeypatch.setattr("sfumato.io._csv.write_csv", no_space)
    before = sorted(folder.iterdir())
    result = run("anonymize", "t.csv", *GOOD, "--out", "out")
    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert sorted(folder.iterdir()) == before


STOPPED = """
import os, signal, sys, time
import sfumato.core.writing as folders

def stop(*_, **__):
    os.kill(os.getpid(), signal.{signal})
    time.sleep(60)

folders.write_parquet = stop
from sfumato.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("signal", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_run_stopped_half_way_leaves_nothing_behind(shell, folder, signal, code):
    before = sorted(folder.iterdir())
    heard = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # also under nohup, and in the background
    heard += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    done = shell("anonymize", "t.csv", *GOOD, "--out", "out", program=heard + STOPPED.format(signal=signal))
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert sorted(folder.iterdir()) == before


@pytest.mark.slow
def test_what_a_killed_run_left_is_removed_by_the_next(shell, run, folder):
    before = sorted(folder.iterdir())
    killed = shell("anonymize", "t.csv", *GOOD, "--out", "out", program=STOPPED.format(signal="SIGKILL"))
    assert killed.returncode == -9
    (left,) = set(folder.iterdir()) - set(before)
    assert left.stat().st_mode & 0o777 == 0o700
    assert run("anonymize", "t.csv", *GOOD, "--out", "out").exit_code == 0
    assert sorted(folder.iterdir()) == sorted([*before, folder / "out"])


@pytest.mark.slow
def test_a_run_that_ignores_the_end_of_its_terminal_goes_on(shell, folder):  # noqa: ARG001 - its files are read
    program = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + STOPPED.format(signal="SIGHUP")
    program = program.replace("def stop(*_, **__)", "write = folders.write_parquet\ndef stop(*given)")
    program = program.replace("time.sleep(60)", "write(*given)")
    done = shell("anonymize", "t.csv", *GOOD, "--out", "out", program=program)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_stopped_replacement_leaves_the_old_release(run, shell, folder):
    assert run("anonymize", "t.csv", *GOOD, "--out", "out", "--seed", 1).exit_code == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    program = STOPPED.format(signal="SIGINT")
    assert shell("anonymize", "t.csv", *ROLES, "--k", 9, "--out", "out", "--replace", program=program).returncode == 130
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_release_that_fails_its_audit_is_withheld_with_exit_code_1(run, folder, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise sf.errors.GuaranteeViolatedError("Mondrian found a release that fails its audit.")

    monkeypatch.setattr("sfumato.tables._pipeline.anonymize.run_recipe", broken)
    result = run("anonymize", "t.csv", *GOOD, "--out", "out")
    assert result.exit_code == 1
    assert result.stderr == "sfumato: Mondrian found a release that fails its audit.\n"
    assert not (folder / "out").exists()


def test_an_error_nobody_foresaw_shows_where_but_not_what(run, folder, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ArithmeticError(CANARY)

    monkeypatch.setattr("sfumato.tables._pipeline.anonymize.run_recipe", broken)
    result = run("anonymize", "t.csv", *GOOD, "--out", "out")
    assert result.exit_code == 70
    assert "in broken" in result.stderr
    assert result.stderr.endswith("sfumato: An unexpected ArithmeticError occurred here; please report it as a bug.\n")
    assert CANARY not in result.stderr
    assert not (folder / "out").exists()


def test_too_little_memory_is_one_sentence(run, folder, monkeypatch):  # noqa: ARG001 - the files of the folder are read
    def broken(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("sfumato.tables._pipeline.anonymize.run_recipe", broken)
    result = run("anonymize", "t.csv", *GOOD, "--out", "out")
    assert (result.exit_code, result.stderr) == (2, "sfumato: There is not enough memory for this table.\n")


def test_what_is_told_of_files_beside_the_table_is_a_remark_too(run, patients_file, tmp_path):
    (tmp_path / "levels.csv").write_text("disease;level\nflu;1,5\nangina;2,5\n", "utf-8")
    model = f"hpk-anonymity:h=2,p=2,k=3,sensitive=disease,levels={tmp_path}/levels.csv"
    told = run("audit", patients_file, "--quasi", "age", "--sensitive", "disease", "--model", model)
    assert "Note: Column 'level' has decimal commas and is read as numbers" in told.stderr
    assert "ReadWarning" not in told.stderr
