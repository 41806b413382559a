"""Which of the 18 identifiers of the HIPAA safe harbor a column seems to contain, by its name and its values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.inspection.names import Hint, Meaning, hint
from sfumato.inspection.patterns import personal_pattern
from sfumato.inspection.profile import CellKind, Profile, profile
from sfumato.inspection.roles import Clues, free_text, propose_role
from sfumato.schema.roles import Role
from sfumato.table.values import texts
from sfumato.words import Sentence

ADDRESSES = {"address", "adresse", "direccion"}
LABELS = {"name", "nom", "nombre", "\u540d\u79f0"}


@dataclass(frozen=True, kw_only=True)
class Identifier:
    """One of the 18 identifiers: the words of column names that suggest it, and the format of its values."""

    letter: str
    title: str
    words: str = ""
    looks: tuple[str, ...] = ()


# The words are those of sfumato.inspection.names; a word for an identifier that is in no list counts as (R).
IDENTIFIERS = (
    Identifier(
        letter="A",
        title="names",
        words="""firstname lastname surname fullname givenname familyname maidenname middlename forename birthname
        nickname personname patientname customername clientname employeename studentname mothername fathername
        contactname vorname nachname familienname geburtsname prenom nomdefamille apellido nombrecompleto 姓名 名字
        name nom nombre 名称""",
    ),
    Identifier(
        letter="B",
        title="places smaller than a state",
        words="""address street anschrift adresse strasse hausnummer rue direccion domicilio calle 地址 住址 county
        city town municipality district birthplace latitude longitude lat lon lng location place ort wohnort
        geburtsort stadt gemeinde landkreis ville commune ciudad municipio 城市 区县 籍贯""",
    ),
    Identifier(letter="C", title="dates finer than a year"),
    Identifier(
        letter="D",
        title="telephone numbers",
        words="phone mobilenumber cellnumber mobile tel telefon handy telephone portable telefono movil 电话 手机",
        looks=("telephone numbers",),
    ),
    Identifier(letter="E", title="fax numbers", words="fax telefax"),
    Identifier(
        letter="F",
        title="e-mail addresses",
        words="email courriel correo 邮箱 邮件",
        looks=("e-mail addresses",),
    ),
    Identifier(
        letter="G",
        title="social security numbers",
        words="ssn socialsecurity sozialversicherung svnr securitesociale nss nir seguridadsocial 社保号",
        looks=("social security numbers",),
    ),
    Identifier(
        letter="H",
        title="medical record numbers",
        words="""medicalrecord recordnumber mrn patientid patientnumber patientennummer patientnr patientennr
        fallnummer caseid numeropatient historiaclinica 病历号 住院号 门诊号""",
    ),
    Identifier(
        letter="I",
        title="health plan numbers",
        words="""insurancenumber insuranceid policynumber healthplanid beneficiary nhs nhsnumber versichertennummer
        versicherungsnummer versichertennr 医保号""",
    ),
    Identifier(
        letter="J",
        title="account numbers",
        words="""accountnumber accountno accountid account bankaccount creditcard cardnumber iban bic kontonummer
        konto 银行卡 账号 卡号""",
        looks=("bank account numbers (IBAN)", "payment card numbers"),
    ),
    Identifier(
        letter="K",
        title="certificate and license numbers",
        words="driverlicense driverslicense driverslicence licensenumber licencenumber fuhrerschein",
    ),
    Identifier(
        letter="L",
        title="vehicle numbers",
        words="licenseplate licenceplate numberplate vin kennzeichen immatriculation 车牌",
    ),
    Identifier(
        letter="M",
        title="device numbers",
        words="deviceid serialnumber imei imsi macaddress mac",
        looks=("MAC addresses",),
    ),
    Identifier(letter="N", title="web addresses", words="url homepage website", looks=("web addresses",)),
    Identifier(letter="O", title="IP addresses", words="ip ipv ipaddress", looks=("IP addresses",)),
    Identifier(letter="P", title="biometric identifiers", words="fingerprint biometric"),
    Identifier(letter="Q", title="face photographs", words="photo portrait faceimage"),
    Identifier(letter="R", title="any other unique number or code"),
)


class ColumnEvidence(NamedTuple):
    """Why a column seems to contain an identifier; `certain` is false if it only may contain one."""

    letter: str
    column: str
    why: Sentence
    certain: bool


def evidence(columns: Iterable[Profile]) -> tuple[ColumnEvidence, ...]:
    """Look for identifiers in columns, except dates and ages."""
    return tuple(found for column in columns for found in _column_evidence(column))


def telling_columns(table: pa.Table) -> tuple[str, ...]:
    """Return the columns that seem to identify people, except places."""
    found = (each.column for each in evidence(shown_profiles(table)) if each.certain and each.letter != "B")
    return tuple(dict.fromkeys(found))


def shown_profiles(table: pa.Table) -> Iterator[Profile]:
    """Profile the columns that contain anything but missing and suppressed cells."""
    for name in table.column_names:
        column = profile(name, table[name])
        if column.distinct and not _all_suppressed(column):
            yield column


def _all_suppressed(column: Profile) -> bool:
    if column.kind is not CellKind.TEXT:
        return False
    return bool(pc.all(pc.match_substring_regex(texts(column.values), r"^\s*\*+\s*$")).as_py())


def _column_evidence(column: Profile) -> Iterator[ColumnEvidence]:
    said = hint(column.name)
    if column.kind is CellKind.BOOLEAN:
        return
    letters = set()
    for letter, why in (*_by_name(column, said), *_by_looks(column)):
        if letter not in letters:
            letters.add(letter)
            yield ColumnEvidence(letter, column.name, why, certain=True)
    if letters:
        return
    if free_text(Clues(column, said)):
        yield ColumnEvidence("A", column.name, Sentence("risk.hipaa.free_text"), certain=False)
        return
    role, reasons = propose_role(column, said)
    if role is Role.IDENTIFIER:
        letter = "A" if said and said.word in LABELS else "R"
        yield ColumnEvidence(letter, column.name, _both(reasons), certain=True)


def _both(reasons: Sequence[Sentence]) -> Sentence:
    return reduce(lambda first, second: Sentence("risk.hipaa.both", first=first, second=second), reasons)


def _by_name(column: Profile, said: Hint | None) -> Iterator[tuple[str, Sentence]]:
    if said is None:
        return
    known = _letters()
    if said.word in ADDRESSES:
        rest = hint(column.name.casefold().replace(said.word, " "))
        if rest is not None and rest.meaning is Meaning.IDENTIFIER:
            said = rest  # as in email_address
    if said.meaning is Meaning.IDENTIFIER:
        yield known.get(said.word, "R"), Sentence("risk.hipaa.name", word=said.word)
    elif known.get(said.word) == "B":
        yield "B", Sentence("risk.hipaa.name", word=said.word)


def _by_looks(column: Profile) -> Iterator[tuple[str, Sentence]]:
    found = personal_pattern(column.sample) if column.kind in {CellKind.TEXT, CellKind.WHOLE} else None
    if found is not None:
        pattern, part = found
        letters = [each.letter for each in IDENTIFIERS if pattern.looks_like in each.looks]
        looks = Sentence(f"reasons.what.{pattern.looks_like}")
        yield (letters or ["R"])[0], Sentence("risk.hipaa.looks_like", percent=int(part * 100), what=looks)


@cache
def _letters() -> dict[str, str]:
    return {word: each.letter for each in IDENTIFIERS for word in each.words.split()}
