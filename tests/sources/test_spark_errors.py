"""What Spark and the libraries that speak with it raise becomes one sentence without cells."""

from __future__ import annotations

import grpc
import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

from sfumato.errors import ReadError, SfumatoError
from sfumato.tables.engines._spark_errors import reworded_spark_errors

RAISED = {
    "no PyArrow": (PySparkException("No module named 'pyarrow'; secret"), "needs pandas and PyArrow"),
    "no Sfumato": (PySparkException("No module named 'sfumato.tables.engines'; secret"), "do not have Sfumato"),
    "no files": (PySparkException("java.io.FileNotFoundException: secret"), "folder that all workers see"),
    "another Python": (PySparkException("[PYTHON_VERSION_MISMATCH] secret"), "another version of Python"),
    "full disk": (PySparkException("java.io.IOException: No space left on device secret"), "is full"),
    "anything else": (PySparkException("secret"), r"cannot count the table \(PySparkException\)"),
    "py4j": (Py4JError("secret"), r"cannot count the table \(Py4JError\)"),
    "py4j, connection lost": (Py4JNetworkError("secret"), "connection to Spark was lost"),
    "refused connection": (ConnectionRefusedError("secret"), "connection to Spark was lost"),
    "broken answer": (EOFError("secret"), "connection to Spark was lost"),
    "grpc": (grpc.RpcError("secret"), "connection to Spark was lost"),
}


@pytest.mark.parametrize("name", RAISED)
def test_what_is_raised_becomes_one_sentence_without_cells(name):
    error, sentence = RAISED[name]
    with pytest.raises(SfumatoError, match=sentence) as raised, reworded_spark_errors("count"):
        raise error
    assert "secret" not in str(raised.value)
    assert str(raised.value).count(". ") == 0
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__


def test_errors_of_our_own_are_left_alone():
    with pytest.raises(ReadError, match=r"^ours$"), reworded_spark_errors("count"):
        raise ReadError("ours")
