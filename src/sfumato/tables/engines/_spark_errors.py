"""What Spark says when something fails, reworded: it may quote cells, and speaks at length."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sfumato._optional import import_optional
from sfumato.errors import ReadError, SfumatoError, WriteError

LIBRARIES = ("py4j.protocol", "Py4JError"), ("grpc", "RpcError")  # that speak with Spark, if they are loaded


@contextmanager
def reworded_spark_errors(doing: str) -> Iterator[None]:
    """Reword what Spark, or what speaks with it, raises.

    Parameters
    ----------
    doing : what Spark is asked to do with the table, a verb.
    """
    errors = import_optional("pyspark.errors", extra="spark", error=ReadError)
    others = [getattr(sys.modules[name], kind) for name, kind in LIBRARIES if name in sys.modules]
    try:
        yield
    except (errors.PySparkException, ConnectionError, EOFError, *others) as error:
        raise reword_error(error, doing) from None


def reword_error(error: Any, doing: str) -> SfumatoError:
    """Say in one sentence what Spark could not do, by the name of its error alone."""
    said, kinds = str(error), {kind.__name__ for kind in type(error).__mro__}
    for signs, meant in ERRORS_BY_NAME:
        if any(sign in said for sign in signs):
            return meant()
    if kinds & LOST:
        return ReadError(
            "The connection to Spark was lost; check that it still runs, and make the release again with a new session."
        )
    kind = (getattr(error, "getCondition", lambda: None)() or type(error).__name__).split(".")[0]
    return ReadError(f"Spark cannot {doing} the table ({kind}); check the table and the log of Spark.")


def unshared_folder_error(folder: Path | str) -> WriteError:
    """Say that a folder is not shared with the workers."""
    return WriteError(
        f"Workers of Spark do not see the folder {folder}, or may not write there; give out=, and temporary= if you "
        "resume, in a folder that this session and all workers share at the same path."
    )


def missing_package_error() -> ReadError:
    """Say how workers get this package."""
    return ReadError(
        "The workers of Spark do not have Sfumato; install it in their Python (pip install sfumato), or ship an "
        "environment that has it with spark.archives."
    )


def _python_version_error() -> SfumatoError:
    return ReadError(
        "The workers of Spark run another version of Python than this session; set PYSPARK_PYTHON to the same."
    )


def _missing_libraries_error() -> SfumatoError:
    return ReadError("Spark needs pandas and PyArrow, here and in its workers; install them there.")


def _missing_files_error() -> SfumatoError:
    return ReadError(
        "Spark does not find files that it needs; check the table, and give out= a folder that all workers see."
    )


def _disk_full_error() -> SfumatoError:
    return WriteError("A disk of Spark, or of the release, is full; make room there, and make the release again.")


LOST = {"ConnectionError", "EOFError", "Py4JNetworkError", "RpcError", "RetriesExceeded"}
ERRORS_BY_NAME = (
    (("PYTHON_VERSION_MISMATCH",), _python_version_error),
    (("No module named 'sfumato",), missing_package_error),
    (("No module named 'p", "PACKAGE_NOT_INSTALLED"), _missing_libraries_error),
    (("FileNotFoundException", "PATH_NOT_FOUND", "FileNotFoundError"), _missing_files_error),
    (("No space left on device",), _disk_full_error),
)
