"""Which of the 18 identifiers of the HIPAA safe harbor a column seems to contain, by its name and its values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.inspection.names import NameHint, NameMeaning, find_name_hint
from sfumato.inspection.patterns import find_personal_pattern
from sfumato.inspection.profile import CellType, ValueProfile, profile_column
from sfumato.inspection.roles import ColumnFacts, find_free_text, propose_role
from sfumato.schema.roles import Role
from sfumato.table.values import format_values
from sfumato.words import LocalizedText

ADDRESSES = {"address", "adresse", "direccion"}
LABELS = {"name", "nom", "nombre", "\u540d\u79f0"}


@dataclass(frozen=True, kw_only=True)
class IdentifierType:
    """One of the 18 identifiers: the words of column names that suggest it, and the format of its values."""

    letter: str
    title: str
    words: str = ""
    looks: tuple[str, ...] = ()


# The words are those of sfumato.inspection.names; a word for an identifier that is in no list counts as (R).
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
