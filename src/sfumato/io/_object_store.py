"""Folders in object stores, which move nothing: files under a fresh prefix, and a manifest, written last, names them.

Whoever reads such a folder goes by its manifest. What no manifest names is not there: it was left by somebody who was
stopped, or is about to be named.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import pyarrow as pa

from sfumato.errors import ReadError, SfumatoError, WriteError
from sfumato.io.formats import is_database

if TYPE_CHECKING:
    import pyarrow.dataset as ds

MANIFEST, FORMAT = "manifest.json", "sfumato-manifest-1"
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
HADOOP = re.compile(r"\As3[an]://")  # what Spark calls S3
PIECE = 1 << 22  # bytes that are copied at once


def is_object_store_address(given: object) -> TypeGuard[str]:
    """Return whether something is the address of a folder in an object store, such as `s3://bucket/release`."""
    return isinstance(given, str) and ADDRESS.match(given) is not None and not is_database(given)


def open_file_system(address: str) -> tuple[Any, str]:
    """Return what reads and writes at an address, and the path there."""
    from pyarrow import fs

    try:
        system, path = fs.FileSystem.from_uri(HADOOP.sub("s3://", address))
    except (pa.ArrowInvalid, NotImplementedError):
        raise WriteError(
            f"Arrow knows no store at {address}; give a folder, or an address that begins with s3://, gs://, abfss:// "
            "or hdfs://."
        ) from None
    return system, path.rstrip("/")


@dataclass(frozen=True)
class ObjectStoreFolder:
    """A folder in an object store.

    Parameters
    ----------
    address : where it is, such as `s3://bucket/release`.
    """

    address: str

    @cached_property
    def _open_file_system(self) -> tuple[Any, str]:
        with self._reworded_errors(WriteError, "reached"):
            return open_file_system(self.address)

    def check_free(self, *, replace: bool) -> None:
        """Refuse a folder that holds a release, unless it may be replaced, or that holds anything else."""
        from pyarrow import fs

        system, path = self._open_file_system
        with self._reworded_errors(ReadError, "read"):
            found = system.get_file_info(fs.FileSelector(path, allow_not_found=True, recursive=False))
        complete = any(each.base_name == MANIFEST for each in found)
        if found and not (replace and complete):
            raise WriteError(
                f"{self.address} already contains files; choose another address"
                + (" or replace it with replace=True." if complete else ".")
            )

    def put(self, folder: Path, *, replace: bool) -> None:
        """Copy a folder under a fresh prefix, read it back, and name its files; files that are replaced go last.

        Raises
        ------
        WriteError
            A file cannot be written, or does not read back as it was; then nothing of it is left.
        """
        self.check_free(replace=replace)
        older = self._files() if replace and self._exists() else {}
        prefix, files = secrets.token_hex(8), {}
        try:
            with self._reworded_errors(WriteError, "written"):
                for file in sorted(path for path in folder.rglob("*") if path.is_file()):
                    name = file.relative_to(folder).as_posix()
                    files[name] = self._copied(file, f"{prefix}/{name}")
                manifest = json.dumps({"format": FORMAT, "files": files}, indent=1)
                self._write(MANIFEST, iter([manifest.encode()]))
        except BaseException:
            self._remove([f"{prefix}/{file.relative_to(folder).as_posix()}" for file in folder.rglob("*")])
            raise
        self._remove([each["at"] for each in older.values()])

    def parts(self) -> list[str]:
        """Return where the parts of the published table are, by their paths in the store; refuse any that differs."""
        files = self._files()
        names = sorted(name for name in files if name.startswith("public/") and name.endswith(".parquet"))
        with self._reworded_errors(ReadError, "read"):
            others = [name for name in names if self._facts(files[name]["at"]) != _noted_size_and_digest(files[name])]
        if others:
            raise ReadError(
                f"{len(others)} of {len(names)} files at {self.address} are not what its manifest says; get the "
                "release again from where it was made."
            )
        return [files[name]["at"] for name in names]

    def addresses(self) -> list[str]:
        """Return the addresses of the parts, as other programs know them."""
        return [f"{self.address.rstrip('/')}/{part}" for part in self.parts()]

    def scan(self) -> ds.Dataset:
        """Return the published table as an Arrow dataset."""
        import pyarrow.dataset as ds

        system, path = self._open_file_system
        parts = [f"{path}/{part}" for part in self.parts()]
        with self._reworded_errors(ReadError, "read"):
            return ds.dataset(parts, filesystem=system, format="parquet")

    def _exists(self) -> bool:
        from pyarrow import fs

        system, path = self._open_file_system
        with self._reworded_errors(ReadError, "read"):
            return bool(system.get_file_info(f"{path}/{MANIFEST}").type == fs.FileType.File)

    def _files(self) -> dict[str, dict[str, Any]]:
        """Read the manifest."""
        if not self._exists():
            raise ReadError(f"{self.address} has no {MANIFEST}: nothing is released there, or not yet.")
        with self._reworded_errors(ReadError, "read"):
            text = b"".join(self._read(MANIFEST))
        try:
            manifest = json.loads(text)
            files: dict[str, dict[str, Any]] = manifest["files"]
            told = all({"at", "bytes", "sha256"} <= each.keys() for each in files.values())
            known = manifest["format"] == FORMAT and told
        except (ValueError, KeyError, TypeError, AttributeError):
            known, files = False, {}
        if not known:
            raise ReadError(
                f"The {MANIFEST} at {self.address} is damaged; get the release again from where it was made."
            )
        return files

    def _copied(self, file: Path, name: str) -> dict[str, Any]:
        """Copy a file, and see that it reads back as it is."""
        self._write(name, _iter_chunks(file))
        facts = _size_and_digest(_iter_chunks(file))
        if self._facts(name) != facts:
            raise WriteError(f"A file at {self.address} does not read back as it was written; try again.")
        return {"at": name, "bytes": facts[0], "sha256": facts[1]}

    def _facts(self, name: str) -> tuple[int, str] | None:
        try:
            return _size_and_digest(self._read(name))
        except FileNotFoundError:
            return None

    def _write(self, name: str, pieces: Iterator[bytes]) -> None:
        system, path = self._open_file_system
        place = f"{path}/{name}"
        system.create_dir(place.rpartition("/")[0], recursive=True)
        with system.open_output_stream(place) as stream:
            for piece in pieces:
                stream.write(piece)

    def _read(self, name: str) -> Iterator[bytes]:
        system, path = self._open_file_system
        with system.open_input_stream(f"{path}/{name}") as stream:
            while piece := stream.read(PIECE):
                yield piece

    def _remove(self, names: list[str]) -> None:
        """Remove files as far as that is possible: nobody reads them."""
        system, path = self._open_file_system
        for name in names:
            with suppress(OSError, NotImplementedError):
                system.delete_file(f"{path}/{name}")

    @contextmanager
    def _reworded_errors(self, kind: type[SfumatoError], doing: str) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException, NotImplementedError) as error:
            raise kind(
                f"{self.address} cannot be {doing} ({type(error).__name__}); check the address and your credentials."
            ) from None


def open_stored_table(given: Any) -> Any:
    """Return the published table of a release in an object store as a dataset; anything else as it is."""
    return ObjectStoreFolder(given).scan() if is_object_store_address(given) else given


def _iter_chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while piece := stream.read(PIECE):
            yield piece


def _size_and_digest(pieces: Iterator[bytes]) -> tuple[int, str]:
    size, hashed = 0, hashlib.sha256()
    for piece in pieces:
        size += len(piece)
        hashed.update(piece)
    return size, hashed.hexdigest()


def _noted_size_and_digest(noted: Mapping[str, Any]) -> tuple[int, str]:
    return noted["bytes"], noted["sha256"]
