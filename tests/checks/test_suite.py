"""The suite finds the laws for whatever is to be checked and lets pytest run each as a test."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from sfumato.errors import InvalidParameterError
from sfumato.io.formats import FORMATS
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.testing.algorithms import ALGORITHM_CHECKS
from sfumato.testing.formats import FORMAT_CHECKS
from sfumato.testing.models import MODEL_CHECKS
from sfumato.testing.suite import checks_for, parametrize_with_checks

SUBJECTS = [(KAnonymity(k=2), MODEL_CHECKS), (Mondrian(), ALGORITHM_CHECKS), (FORMATS["csv"], FORMAT_CHECKS)]


@pytest.mark.parametrize(("subject", "laws"), SUBJECTS, ids=["model", "algorithm", "format"])
def test_every_kind_has_its_laws(subject, laws):
    assert [law.__name__ for law in checks_for(subject)] == [law.__name__ for law in laws]


def test_pytest_gets_every_subject_with_every_law_under_a_name_that_tells_both():
    mark = parametrize_with_checks(*(subject for subject, _ in SUBJECTS))
    names, cases = mark.args
    assert names == ("subject", "law")
    assert [(case.values[0], case.values[1].__name__) for case in cases] == [
        (subject, law.__name__) for subject, laws in SUBJECTS for law in laws
    ]
    assert cases[0].id == "KAnonymity(k=2)-check_facts_are_stated"
    assert cases[-1].id == "csv-check_a_table_is_one_file"


def test_what_has_no_laws_is_refused():
    with pytest.raises(
        InvalidParameterError, match=r"laws for objects of PrivacyModel, .*; got the class KAnonymity itself\.$"
    ):
        checks_for(KAnonymity)


@pytest.mark.slow
def test_the_suites_are_imported_without_pytest():
    program = "import sys, json, sfumato.testing.suite; print(json.dumps('pytest' in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    assert json.loads(done.stdout) is False
