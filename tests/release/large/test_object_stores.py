"""Releases in object stores, where nothing is ever moved: complete and as they were judged, or not there at all."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs
from tests.release.large.test_segmented import RECIPE, census

import sfumato as sf
from sfumato.errors import InvalidParameterError, ReadError, WriteError
from sfumato.io import _object_store
from sfumato.io._object_store import (
    MANIFEST,
    ObjectStoreFolder,
    is_object_store_address,
    open_file_system,
    open_stored_table,
)

ADDRESS = "bucket://here/release"


class Bucket(fs.FileSystemHandler):
    """A store that writes, reads, lists and deletes, and moves nothing; `fail` and `spoil` say where it goes wrong."""

    def __init__(self, root: Path) -> None:
        self.root, self.system = root, fs.SubTreeFileSystem(str(root), fs.LocalFileSystem())
        self.fail, self.spoil, self.written = "", "", []

    def get_type_name(self):
        """Name the store."""
        return "bucket"

    def normalize_path(self, path):
        """Return a path as it is."""
        return path

    def get_file_info(self, paths):
        """Tell about files."""
        return self.system.get_file_info(paths)

    def get_file_info_selector(self, selector):
        """List a folder."""
        return self.system.get_file_info(selector)

    def create_dir(self, path, recursive):
        """Make a folder."""
        self.system.create_dir(path, recursive=recursive)

    def delete_file(self, path):
        """Remove a file."""
        self.system.delete_file(path)

    def open_input_stream(self, path):
        """Read a file."""
        return pa.PythonFile(self.system.open_input_stream(path), mode="r")

    def open_input_file(self, path):
        """Read a file anywhere in it."""
        return pa.PythonFile(self.system.open_input_file(path), mode="r")

    def open_output_stream(self, path, metadata):
        """Write a file, or fail to."""
        del metadata
        self.written.append(path.rpartition("/")[2])
        if self.fail and path.endswith(self.fail):
            raise OSError(5, "Input/output error")
        if self.spoil and path.endswith(self.spoil):
            return pa.PythonFile(self.system.open_output_stream(path + ".elsewhere"), mode="w")
        return pa.PythonFile(self.system.open_output_stream(path), mode="w")

    def refuse(self, *_):
        """Move nothing."""
        raise NotImplementedError

    open_append_stream = move = copy_file = delete_dir = delete_dir_contents = delete_root_dir_contents = refuse


@pytest.fixture
def bucket(tmp_path, monkeypatch):
    (tmp_path / "bucket").mkdir()
    made = Bucket(tmp_path / "bucket")
    system = fs.PyFileSystem(made)

    def find(address):
        return system, address.partition("://")[2]

    monkeypatch.setattr(_object_store, "open_file_system", find)
    (tmp_path / "temporary").mkdir()
    yield made
    assert not any((tmp_path / "temporary").iterdir())


def released(folder: Path, **where) -> sf.StoredRelease:
    pq.write_table(census(), folder / "census.parquet")
    given = {"engine": "duckdb", "memory": "100MB", "out": ADDRESS, "temporary": folder / "temporary", **where}
    return sf.run_recipe(RECIPE, folder / "census.parquet", **given)


def files(bucket: Bucket) -> set[str]:
    return {path.relative_to(bucket.root).as_posix() for path in bucket.root.rglob("*") if path.is_file()}


def judged(**where):
    return sf.audit(ADDRESS, RECIPE.schema, RECIPE.models, **where)


def test_a_release_is_what_its_manifest_names_and_that_is_written_last(tmp_path, bucket):
    release = released(tmp_path)
    assert bucket.written[-1] == MANIFEST
    named = json.loads((bucket.root / "here/release" / MANIFEST).read_text())["files"]
    assert {f"here/release/{each['at']}" for each in named.values()} | {f"here/release/{MANIFEST}"} == files(bucket)
    assert {"public/table/part-00000.parquet", "public/promise.json", "internal/recipe.toml"} <= named.keys()
    in_memory = sf.run_recipe(RECIPE, census())
    assert release.scan().to_table().equals(pq.read_table(pa.BufferReader(parts_of(in_memory))))
    assert release.paths == (f"{ADDRESS}/{named['public/table/part-00000.parquet']['at']}",)
    for engine in ("memory", "duckdb"):
        found = judged(engine=engine)
        assert found.holds
        assert found.to_dict()["levels"] == in_memory.audit.to_dict()["levels"]


def parts_of(release: sf.Release) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    pq.write_table(release.published, sink, store_schema=False)
    return sink.getvalue()


def test_a_table_in_memory_is_stored_too(tmp_path, bucket):
    release = sf.run_recipe(RECIPE, census(), out=ADDRESS, temporary=tmp_path / "temporary")
    assert isinstance(release, sf.Release)
    assert judged().records == release.audit.records
    assert files(bucket)


@pytest.mark.parametrize("fails", ["part-00000.parquet", "recipe.toml", MANIFEST])
@pytest.mark.parametrize("how", ["fail", "spoil"])
def test_what_cannot_be_written_leaves_nothing(tmp_path, bucket, fails, how):
    if (how, fails) == ("spoil", MANIFEST):
        return
    setattr(bucket, how, fails)
    with pytest.raises(WriteError, match=r"cannot be written|does not read back"):
        released(tmp_path)
    assert {name for name in files(bucket) if not name.endswith("elsewhere")} == set()
    with pytest.raises(ReadError, match="has no manifest"):
        judged()


def test_an_older_release_is_replaced_at_once_or_stays(tmp_path, bucket):
    first = released(tmp_path).paths
    with pytest.raises(WriteError, match="replace=True"):
        released(tmp_path)
    bucket.fail = MANIFEST
    before = files(bucket)
    with pytest.raises(WriteError, match="cannot be written"):
        released(tmp_path, replace=True)
    assert files(bucket) == before
    bucket.fail = ""
    second = released(tmp_path, replace=True)
    assert second.paths != first
    assert len(files(bucket)) == len(before)
    assert judged().holds


def test_files_that_are_no_release_are_not_touched(tmp_path, bucket):
    (bucket.root / "here/release").mkdir(parents=True)
    (bucket.root / "here/release/notes.txt").write_text("mine")
    for replace in (False, True):
        with pytest.raises(WriteError, match="already contains files"):
            released(tmp_path, replace=replace)
    assert files(bucket) == {"here/release/notes.txt"}


@pytest.mark.parametrize("damage", ["lost", "longer", "other"])
def test_parts_that_differ_from_the_manifest_are_refused(tmp_path, bucket, damage):
    release = released(tmp_path)
    (part,) = bucket.root.rglob("*.parquet")
    written = part.read_bytes()
    part.unlink()
    if damage != "lost":
        part.write_bytes(written + b"more" if damage == "longer" else b"other" + written[5:])
    for read in (judged, release.scan, lambda: release.paths):
        with pytest.raises(ReadError, match="not what its manifest says"):
            read()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "other", "files": {}}', '{"format": 1, "files": {"a": 1}}']
)
def test_a_damaged_manifest_is_refused(bucket, text):
    (bucket.root / "here/release").mkdir(parents=True)
    (bucket.root / "here/release" / MANIFEST).write_text(text)
    with pytest.raises(ReadError, match="is damaged"):
        judged()


def test_a_release_is_resumed_only_where_it_was_made(tmp_path, bucket):
    assert bucket.written == []
    with pytest.raises(InvalidParameterError, match="name one with temporary="):
        released(tmp_path, temporary=None, resume=True)
    assert released(tmp_path, resume=True).audit.holds


def test_addresses_are_told_from_files_and_databases(tmp_path):
    assert is_object_store_address("s3a://bucket/release")
    assert not any(
        map(is_object_store_address, ["release", tmp_path, None, "sqlite:///a.db", "postgresql://ann@host/x", "C:/x"])
    )
    assert open_stored_table("release") == "release"
    system, path = open_file_system(f"file://{tmp_path}/")
    assert (system.type_name, path) == ("local", str(tmp_path))
    with pytest.raises(ReadError, match="has no manifest"):
        ObjectStoreFolder(f"file://{tmp_path}").scan()
    with pytest.raises(WriteError, match="Arrow knows no store"):
        ObjectStoreFolder("nobody-knows://bucket").check_free(replace=False)
