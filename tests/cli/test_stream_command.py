"""`sfumato stream`: batches go in, new records come out, and nothing is lost on the way."""

from __future__ import annotations

import sfumato as sf


def test_batches_are_condensed_and_records_drawn(run, tmp_path):
    state, batch, out = tmp_path / "visits.state", tmp_path / "batch.csv", tmp_path / "synthetic.csv"
    for month in range(2):
        sf.write(sf.datasets.generate_hospital(400, seed=month, missing=0), batch)
        begin = ("--k", 20, "--columns", "age,sex,cost") if month == 0 else ()
        told = run("stream", "update", state, batch, *begin)
        assert told.exit_code == 0, told.output
    assert told.output.startswith("CondensationStream(k=20, 800 records in ")
    assert run("stream", "sample", state, "--rows", 150, "--out", out).exit_code == 0
    drawn = sf.read(out)
    assert drawn.num_rows == 150
    assert drawn.column_names == ["age", "sex", "cost"]
    assert sf.synthesis.CondensationStream.load(state).records == 800


def test_what_does_not_fit_is_refused_and_changes_nothing(run, tmp_path):
    state, batch = tmp_path / "visits.state", tmp_path / "batch.csv"
    sf.write(sf.datasets.generate_hospital(100, seed=1, missing=0), batch)
    assert "give --k and --columns to create it" in run("stream", "update", state, batch).stderr
    assert not state.exists()
    assert run("stream", "update", state, batch, "--k", 10, "--columns", "age,sex").exit_code == 0
    before = state.read_bytes()
    assert "already has its settings" in run("stream", "update", state, batch, "--k", 5).stderr
    sf.write(sf.datasets.generate_hospital(100, seed=1, missing=0).drop_columns(["age"]), batch)
    refused = run("stream", "update", state, batch)
    assert refused.exit_code == 2
    assert "age" in refused.stderr
    assert state.read_bytes() == before
    state.write_bytes(before[:-9])
    refused = run("stream", "sample", state, "--rows", 5, "--out", tmp_path / "out.csv")
    assert refused.exit_code == 2
    assert not (tmp_path / "out.csv").exists()
