"""The safe harbor of the HIPAA privacy rule: 18 identifiers that must not be in a table, and what replaces them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache, reduce
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._locale.messages import LocalizedText
from sfumato.io._values import format_values
from sfumato.schema.roles import Role, Scale
from sfumato.tables.inspection._column_names import NameHint, NameMeaning, find_name_hint
from sfumato.tables.inspection._patterns import DATES, find_personal_pattern
from sfumato.tables.inspection._profiles import CellType, ValueProfile, profile_column
from sfumato.tables.inspection._roles import ColumnFacts, find_free_text, propose_role
from sfumato.tables.published._labels import parse_label
from sfumato.tables.published.solution import Center, Interval, Label
from sfumato.tables.risk.compliance import ComplianceReport, Finding

# Which of the 18 identifiers of the HIPAA safe harbor a column seems to contain, by its name and its values.

ADDRESSES = {"address", "adresse", "direccion"}
LABELS = {"name", "nom", "nombre", "\u540d\u79f0"}


@dataclass(frozen=True, kw_only=True)
class IdentifierType:
    """One of the 18 identifiers: the words of column names that suggest it, and the format of its values."""

    letter: str
    title: str
    words: str = ""
    looks: tuple[str, ...] = ()


# The words are those of sfumato.tables.inspection._column_names; a word for an identifier that is in no list counts as
# (R).
IDENTIFIERS = (
    IdentifierType(
        letter="A",
        title="names",
        words="""firstname lastname surname fullname givenname familyname maidenname middlename forename birthname
        nickname personname patientname customername clientname employeename studentname mothername fathername
        contactname vorname nachname familienname geburtsname prenom nomdefamille apellido nombrecompleto 姓名 名字
        name nom nombre 名称""",
    ),
    IdentifierType(
        letter="B",
        title="places smaller than a state",
        words="""address street anschrift adresse strasse hausnummer rue direccion domicilio calle 地址 住址 county
        city town municipality district birthplace latitude longitude lat lon lng location place ort wohnort
        geburtsort stadt gemeinde landkreis ville commune ciudad municipio 城市 区县 籍贯""",
    ),
    IdentifierType(letter="C", title="dates finer than a year"),
    IdentifierType(
        letter="D",
        title="telephone numbers",
        words="phone mobilenumber cellnumber mobile tel telefon handy telephone portable telefono movil 电话 手机",
        looks=("telephone numbers",),
    ),
    IdentifierType(letter="E", title="fax numbers", words="fax telefax"),
    IdentifierType(
        letter="F",
        title="e-mail addresses",
        words="email courriel correo 邮箱 邮件",
        looks=("e-mail addresses",),
    ),
    IdentifierType(
        letter="G",
        title="social security numbers",
        words="ssn socialsecurity sozialversicherung svnr securitesociale nss nir seguridadsocial 社保号",
        looks=("social security numbers",),
    ),
    IdentifierType(
        letter="H",
        title="medical record numbers",
        words="""medicalrecord recordnumber mrn patientid patientnumber patientennummer patientnr patientennr
        fallnummer caseid numeropatient historiaclinica 病历号 住院号 门诊号""",
    ),
    IdentifierType(
        letter="I",
        title="health plan numbers",
        words="""insurancenumber insuranceid policynumber healthplanid beneficiary nhs nhsnumber versichertennummer
        versicherungsnummer versichertennr 医保号""",
    ),
    IdentifierType(
        letter="J",
        title="account numbers",
        words="""accountnumber accountno accountid account bankaccount creditcard cardnumber iban bic kontonummer
        konto 银行卡 账号 卡号""",
        looks=("bank account numbers (IBAN)", "payment card numbers"),
    ),
    IdentifierType(
        letter="K",
        title="certificate and license numbers",
        words="driverlicense driverslicense driverslicence licensenumber licencenumber fuhrerschein",
    ),
    IdentifierType(
        letter="L",
        title="vehicle numbers",
        words="licenseplate licenceplate numberplate vin kennzeichen immatriculation 车牌",
    ),
    IdentifierType(
        letter="M",
        title="device numbers",
        words="deviceid serialnumber imei imsi macaddress mac",
        looks=("MAC addresses",),
    ),
    IdentifierType(letter="N", title="web addresses", words="url homepage website", looks=("web addresses",)),
    IdentifierType(letter="O", title="IP addresses", words="ip ipv ipaddress", looks=("IP addresses",)),
    IdentifierType(letter="P", title="biometric identifiers", words="fingerprint biometric"),
    IdentifierType(letter="Q", title="face photographs", words="photo portrait faceimage"),
    IdentifierType(letter="R", title="any other unique number or code"),
)


class ColumnEvidence(NamedTuple):
    """Why a column seems to contain an identifier; `certain` is false if it only may contain one."""

    letter: str
    column: str
    why: LocalizedText
    certain: bool


def find_identifiers(columns: Iterable[ValueProfile]) -> tuple[ColumnEvidence, ...]:
    """Look for identifiers in columns, except dates and ages."""
    return tuple(found for column in columns for found in _column_evidence(column))


def identifying_columns(table: pa.Table) -> tuple[str, ...]:
    """Return the columns that seem to identify people, except places."""
    found = (
        each.column for each in find_identifiers(profile_visible_columns(table)) if each.certain and each.letter != "B"
    )
    return tuple(dict.fromkeys(found))


def profile_visible_columns(table: pa.Table) -> Iterator[ValueProfile]:
    """Profile the columns that contain anything but missing and suppressed cells."""
    for name in table.column_names:
        column = profile_column(name, table[name])
        if column.distinct and not _all_suppressed(column):
            yield column


def _all_suppressed(column: ValueProfile) -> bool:
    if column.kind is not CellType.TEXT:
        return False
    return bool(pc.all(pc.match_substring_regex(format_values(column.values), r"^\s*\*+\s*$")).as_py())


def _column_evidence(column: ValueProfile) -> Iterator[ColumnEvidence]:
    said = find_name_hint(column.name)
    if column.kind is CellType.BOOLEAN:
        return
    letters = set()
    for letter, why in (*_by_name(column, said), *_by_format(column)):
        if letter not in letters:
            letters.add(letter)
            yield ColumnEvidence(letter, column.name, why, certain=True)
    if letters:
        return
    if find_free_text(ColumnFacts(column, said)):
        yield ColumnEvidence("A", column.name, LocalizedText("risk.hipaa.free_text"), certain=False)
        return
    role, reasons = propose_role(column, said)
    if role is Role.IDENTIFIER:
        letter = "A" if said and said.word in LABELS else "R"
        yield ColumnEvidence(letter, column.name, _both(reasons), certain=True)


def _both(reasons: Sequence[LocalizedText]) -> LocalizedText:
    return reduce(lambda first, second: LocalizedText("risk.hipaa.both", first=first, second=second), reasons)


def _by_name(column: ValueProfile, said: NameHint | None) -> Iterator[tuple[str, LocalizedText]]:
    if said is None:
        return
    known = _letters()
    if said.word in ADDRESSES:
        rest = find_name_hint(column.name.casefold().replace(said.word, " "))
        if rest is not None and rest.meaning is NameMeaning.IDENTIFIER:
            said = rest  # as in email_address
    if said.meaning is NameMeaning.IDENTIFIER:
        yield known.get(said.word, "R"), LocalizedText("risk.hipaa.name", word=said.word)
    elif known.get(said.word) == "B":
        yield "B", LocalizedText("risk.hipaa.name", word=said.word)


def _by_format(column: ValueProfile) -> Iterator[tuple[str, LocalizedText]]:
    found = find_personal_pattern(column.sample) if column.kind in {CellType.TEXT, CellType.WHOLE} else None
    if found is not None:
        pattern, part = found
        letters = [each.letter for each in IDENTIFIERS if pattern.looks_like in each.looks]
        looks = LocalizedText(f"reasons.what.{pattern.looks_like}")
        yield (letters or ["R"])[0], LocalizedText("risk.hipaa.looks_like", percent=int(part * 100), what=looks)


@cache
def _letters() -> dict[str, str]:
    return {word: each.letter for each in IDENTIFIERS for word in each.words.split()}


LEAST_PEOPLE = 20_000  # a three-digit ZIP area may be published if more live there
OLDEST = 89
YEAR = 365  # days
AGES = {"age", "alter", "edad", "年龄"}
BIRTHS = {"birth", "born", "dob", "yob", "geburt", "naissance", "nacimiento", "出生", "生日"}
DATE_PARTS = {"month", "day"}
MONTHS = r"^[0-9]{4}-[0-9]{2}$"


def check_safe_harbor(
    table: pa.Table, *, zip3_population: Mapping[str, int] | None = None, as_of: date | None = None
) -> ComplianceReport:
    """Look for the 18 identifiers of the safe harbor [1]_, with the columns as evidence.

    Parameters
    ----------
    table : the table, canonical, with all its columns.
    zip3_population : the number of people in the ZIP codes that begin with three digits, by these digits. The rule
        refers to the current census, so no list is built in; without one, three digits remain an open question.
    as_of : the day for which ages are computed from years of birth; by default today.

    References
    ----------
    .. [1] 45 CFR 164.514(b)(2), "Safe harbor".
    """
    profiles = list(profile_visible_columns(table))
    found = find_identifiers(profiles)
    today = as_of or datetime.now(UTC).date()
    findings: list[Finding] = []
    for each in IDENTIFIERS:
        mine = [one for one in found if one.letter == each.letter]
        if each.letter == "B":
            findings.append(_check_locations(mine, profiles, zip3_population))
        elif each.letter == "C":
            findings += [_dates(profiles), _ages(profiles, today)]
        else:
            findings.append(
                _finding(LocalizedText("risk.name.identifier", letter=each.letter, identifier=each.title), mine)
            )
    knowledge = LocalizedText("risk.hipaa.knowledge")
    findings.append(Finding(name=LocalizedText("risk.name.knowledge"), passed=None, sentence=knowledge))
    return ComplianceReport(preset="hipaa", findings=tuple(findings))


def _finding(name: LocalizedText, mine: Iterable[ColumnEvidence]) -> Finding:
    """Summarize the findings about one identifier."""
    found = sorted(mine, key=lambda one: not one.certain)
    if not found:
        return Finding(name=name, passed=True, sentence=LocalizedText("risk.hipaa.none"), figures={"columns": 0})
    first, *others = found
    columns = LocalizedText("risk.hipaa.column", column=first.column, why=first.why)
    for one in others:
        columns = LocalizedText("risk.hipaa.further", before=columns, column=one.column, why=one.why)
    return Finding(
        name=name,
        passed=False if found[0].certain else None,
        sentence=LocalizedText("risk.hipaa.found", columns=columns),
        figures={"columns": len(found)},
        columns=tuple(dict.fromkeys(one.column for one in found)),
    )


def _check_locations(
    mine: list[ColumnEvidence], profiles: Iterable[ValueProfile], people: Mapping[str, int] | None
) -> Finding:
    for column in profiles:
        said = find_name_hint(column.name)
        if said is not None and said.meaning is NameMeaning.POSTCODE:
            mine = [*mine, *_zip_evidence(column, people)]
    return _finding(LocalizedText("risk.name.places"), mine)


def _zip_evidence(column: ValueProfile, people: Mapping[str, int] | None) -> Iterable[ColumnEvidence]:
    """Judge a column of ZIP codes: three digits may stay if enough people live there, otherwise 000."""
    shown = [text.strip() for text in format_values(column.values).to_pylist()]
    counts = column.counts[:-1]
    three = np.array([bool(re.fullmatch(r"[0-9]{3}\**", text)) for text in shown])
    fewer = np.array([bool(re.fullmatch(r"[0-9]{0,2}\*+", text)) for text in shown])
    finer = int(counts[~three & ~fewer].sum())
    if finer:
        yield ColumnEvidence("B", column.name, LocalizedText("risk.hipaa.zip_finer", rows=finer), certain=True)
    asked = np.array([keep and not text.startswith("000") for keep, text in zip(three, shown, strict=True)])
    if people is None:
        if asked.any():
            why = LocalizedText("risk.hipaa.zip_unknown", people=LEAST_PEOPLE)
            yield ColumnEvidence("B", column.name, why, certain=False)
        return
    small = np.array([people.get(text[:3], 0) <= LEAST_PEOPLE for text in shown])
    rows = int(counts[asked & small].sum())
    if rows:
        why = LocalizedText("risk.hipaa.zip_small", rows=rows, people=LEAST_PEOPLE)
        yield ColumnEvidence("B", column.name, why, certain=True)


def _dates(profiles: Iterable[ValueProfile]) -> Finding:
    found = []
    for column in profiles:
        said = find_name_hint(column.name)
        if column.kind in {CellType.DATE, CellType.MOMENT}:
            why = LocalizedText("risk.hipaa.contains", what=LocalizedText(f"reasons.what.{column.kind}"))
            found.append(ColumnEvidence("C", column.name, why, certain=True))
        elif column.kind is CellType.TEXT and _finer_than_year(column):
            found.append(ColumnEvidence("C", column.name, LocalizedText("risk.hipaa.finer"), certain=True))
        elif said is not None and said.word in DATE_PARTS:
            why = LocalizedText("risk.hipaa.date_part", word=said.word)
            found.append(ColumnEvidence("C", column.name, why, certain=False))
    return _finding(LocalizedText("risk.name.dates"), found)


def _finer_than_year(column: ValueProfile) -> bool:
    if (
        DATES.matching_share(column.sample) >= DATES.least
        or pc.any(pc.match_substring_regex(column.sample, MONTHS)).as_py()
    ):
        return True
    labels = (parse_label(text, Scale.NUMERIC, {}) for text in column.sample.to_pylist())
    return any(
        (isinstance(label, Center) and isinstance(label.value, date))
        or (isinstance(label, Interval) and _days(label) < YEAR)
        for label in labels
    )


def _days(interval: Interval) -> float:
    low, high = interval.low, interval.high
    return (high - low).days if isinstance(low, date) and isinstance(high, date) else inf


def _ages(profiles: Iterable[ValueProfile], today: date) -> Finding:
    found: list[ColumnEvidence] = []
    for column in profiles:
        said = find_name_hint(column.name)
        if said is not None and said.word in AGES:
            found += _age_evidence(column)
        elif any(word in column.name.casefold() for word in BIRTHS):
            old = int(column.counts[:-1][_years(column) < today.year - OLDEST].sum())
            if old:
                why = LocalizedText("risk.hipaa.births", rows=old, age=OLDEST)
                found.append(ColumnEvidence("C", column.name, why, certain=True))
    return _finding(LocalizedText("risk.name.ages", age=OLDEST), found)


def _age_evidence(column: ValueProfile) -> Iterable[ColumnEvidence]:
    """Judge a column of ages: those over 89 may only be published together, as 90 or older."""
    tops, spans = _greatest_ages(column)
    older = (tops > OLDEST) & (tops < inf)
    top_code = older & ~spans & (tops == OLDEST + 1)
    rows = int(column.counts[:-1][older].sum())
    if not rows:
        return
    if (older & ~spans & ~top_code).any() or np.count_nonzero(older) > 1:
        yield ColumnEvidence("C", column.name, LocalizedText("risk.hipaa.ages", rows=rows, age=OLDEST), certain=True)
    else:
        why = LocalizedText("risk.hipaa.one_age", rows=rows, age=OLDEST)
        yield ColumnEvidence("C", column.name, why, certain=False)


def _greatest_ages(column: ValueProfile) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the highest age that each distinct value allows, infinite if unbounded, and which are intervals."""
    if column.kind in {CellType.WHOLE, CellType.REAL}:
        ages = np.asarray(column.values.cast(pa.float64()).to_numpy(zero_copy_only=False))
        return ages, np.zeros(len(ages), dtype=np.bool_)
    labels = [parse_label(text, Scale.NUMERIC, {}) for text in format_values(column.values).to_pylist()]
    tops = np.array([_top(label) for label in labels])
    return tops, np.array([isinstance(label, Interval) for label in labels])


def _top(label: Label) -> float:
    top = label.high if isinstance(label, Interval) else label.value if isinstance(label, Center) else None
    if not isinstance(top, int | float):
        return -inf
    return top - 1 if isinstance(label, Interval) and not label.high_closed else top


def _years(column: ValueProfile) -> npt.NDArray[np.float64]:
    """Return the year that every distinct value shows; infinite if it shows none."""
    if column.kind in {CellType.DATE, CellType.MOMENT}:
        return np.asarray(pc.year(column.values).to_numpy(zero_copy_only=False), dtype=np.float64)
    if column.kind is CellType.WHOLE:
        years = np.asarray(column.values.to_numpy(zero_copy_only=False), dtype=np.float64)
        return np.where((years >= 1800) & (years <= 9999), years, inf)  # noqa: PLR2004 - four-digit years
    return np.full(column.distinct, inf)
