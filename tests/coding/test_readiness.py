"""Nobody waits for compiled loops: until they stand ready, NumPy works, and one other process compiles them."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core._kernels import grouping, readiness
from sfumato.tables.algorithms._segments._compiled_cutter import CompiledCutter
from sfumato.tables.algorithms._segments._plain_cutter import PlainCutter
from sfumato.tables.algorithms._segments.cuts import choose_cutter

MANY = 1_000_000


@pytest.fixture
def begun(monkeypatch, tmp_path):
    """Have nothing compiled, and list what is begun instead of beginning it."""
    commands: list[list[str]] = []
    monkeypatch.delenv(readiness.COMPILE)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(readiness, "_ProcessState", type("_Known", (), {"ready": False, "begun": False}))
    monkeypatch.setattr(readiness.subprocess, "Popen", lambda command, **_options: commands.append(command))
    return commands


def test_one_process_compiles_while_numpy_works(begun):
    assert isinstance(choose_cutter(MANY), PlainCutter)
    assert isinstance(choose_cutter(MANY), PlainCutter)
    assert [command[1:] for command in begun] == [["-m", "sfumato._warmup"]]


def test_few_rows_need_no_compiled_loops(begun):
    assert not readiness.should_compile_for(10, 100)
    assert not begun


def test_rows_for_which_numpy_would_take_longer_are_worth_waiting(begun):
    assert isinstance(choose_cutter(readiness.WORTH_WAITING), CompiledCutter)
    assert not begun


def test_the_stamp_says_that_all_is_ready_and_ends_the_compiling(begun):
    readiness.compile_in_background()
    assert readiness._lock().exists()
    assert not readiness.is_cache_warm()
    readiness.mark_ready()
    assert not readiness._lock().exists()
    readiness._ProcessState.ready = False
    assert readiness.is_cache_warm()
    assert isinstance(choose_cutter(MANY), CompiledCutter)
    assert len(begun) == 1


@pytest.mark.parametrize("changed", ["_processor", "version", "KERNELS"])
def test_the_stamp_is_void_on_another_processor_with_another_compiler_or_other_sources(
    begun, monkeypatch, tmp_path, changed
):
    readiness.mark_ready()
    readiness._ProcessState.ready = False
    (tmp_path / "other.py").write_text("", encoding="utf-8")
    other = tmp_path if changed == "KERNELS" else (lambda *_names: "another")
    monkeypatch.setattr(readiness, changed, other)
    assert not readiness.should_compile_for(MANY, 1)
    assert len(begun) == 1


def test_a_second_process_compiles_only_if_the_first_gave_up(begun):
    readiness.compile_in_background()
    readiness._ProcessState.begun = False
    readiness.compile_in_background()
    assert len(begun) == 1
    long_ago = time.time() - 2 * readiness.GIVEN_UP
    os.utime(readiness._lock(), (long_ago, long_ago))
    readiness._ProcessState.begun = False
    readiness.compile_in_background()
    assert len(begun) == 2


@pytest.mark.parametrize(("how", "compiled"), [("always", True), ("never", False)])
def test_users_can_choose(begun, monkeypatch, how, compiled):
    monkeypatch.setenv(readiness.COMPILE, how)
    assert readiness.should_compile_for(MANY, 1) is compiled
    assert not begun


def test_a_folder_that_cannot_be_written_is_no_error(begun, monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked / "cache"))
    assert not readiness.should_compile_for(MANY, 1)
    readiness.mark_ready()
    assert readiness.is_cache_warm()
    assert not begun


def test_an_installation_that_cannot_be_written_has_its_stamp_among_the_users_files(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert readiness.stamp_path().parent == readiness.KERNELS / "__pycache__"
    monkeypatch.setattr(readiness.os, "access", lambda *_: False)
    assert readiness.stamp_path().parent == tmp_path / "sfumato"


@given(st.lists(st.one_of(st.integers(0, 5), st.integers(0, 2**62)), min_size=1, max_size=60))
def test_groups_have_the_same_numbers_whether_loops_are_compiled_or_not(keys):
    given_keys = np.array(keys, dtype=np.int64)
    plain, compiled = grouping._group_by_sorting(given_keys), grouping.group_by_hashing(given_keys)
    for name in ("labels", "keys", "counts"):
        mine, theirs = getattr(plain, name), getattr(compiled, name)
        assert mine.tolist() == theirs.tolist()
        assert mine.dtype == theirs.dtype
