"""What column names say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables.inspection._column_names import WORDS, NameMeaning, find_name_hint

NAMES = {
    NameMeaning.IDENTIFIER: (
        "first_name PatientID SSN e-mail E_Mail emailAddress Telefonnummer phone2 passport_no IBAN MRN "
        "ip_address homeAddress Straße Vorname Nachname Prénom numéro_sécurité_sociale Dirección apellidos "
        "DNI 姓名 身份证号 联系电话 家庭地址 country_of_passport birthName license-plate user_id"
    ),
    NameMeaning.LABEL: "name ID product_name visit_id Nombre 编号",
    NameMeaning.PERSON: "patient students 患者",
    NameMeaning.FREE_TEXT: "comments remarks Bemerkungen 备注",
    NameMeaning.POSTCODE: "zip ZipCode PLZ postcode code_postal código_postal 邮编 zip_4",
    NameMeaning.CATEGORY: (
        "sex gender race ethnicity country_name birth_country nationality marital-status Geschlecht "
        "Familienstand Beruf sexe nationalité estado_civil ciudad 性别 民族 婚姻状况 job city_id state"
    ),
    NameMeaning.DEMOGRAPHIC: (
        "age AGE ageYears dob date_of_birth birthDate Geburtsdatum height_cm weight education Alter "
        "date_naissance edad fecha_de_nacimiento 年龄 出生日期 age_at_diagnosis admission grade_level"
    ),
    NameMeaning.SENSITIVE: (
        "disease diagnosis ICD10 salary-class household_income HIVStatus test_result Krankheit Diagnose "
        "Gehalt maladie salaire enfermedad 疾病 诊断 收入 job_salary cause_of_death HbA1c disease_name "
        "criminal_record political_party default_payment_next_month income_last_3_years sick_this_year_diagnosis"
    ),
    NameMeaning.AMOUNT: "cost costs total_amount Betrag montant precio 金额",
    NameMeaning.OUTCOME: "class target",
    None: "x17 foo storage message embrace Page zipper _ 42 classroom_b",
}


@pytest.mark.parametrize(
    ("name", "meaning"),
    [(name, meaning) for meaning, names in NAMES.items() for name in names.split()],
)
def test_a_name_points_to_what_a_reader_would_think(name, meaning):
    found = find_name_hint(name)
    assert (found.meaning if found else None) is meaning


@pytest.mark.parametrize("meaning", list(WORDS))
def test_every_known_word_is_found_when_it_stands_alone(meaning):
    for word in WORDS[meaning].split():
        found = find_name_hint(word.lstrip("=^$~"))
        assert found is not None
        assert (found.meaning, found.alone) == (meaning, True), word


def test_accents_case_and_separators_do_not_matter():
    assert len({find_name_hint(name) for name in ("etat civil", "État-Civil", "ETAT_CIVIL", "étatCivil")}) == 1


def test_words_for_names_of_things_are_told_beside_what_they_name():
    assert find_name_hint("country_name").label
    assert not find_name_hint("country").label
    assert find_name_hint("names").alone
    assert not find_name_hint("product_name").alone


@given(st.text())
def test_any_name_can_be_read(name):
    found = find_name_hint(name)
    assert found is None or found.meaning in NameMeaning


@pytest.mark.parametrize(
    "name", ["fnlwgt", "sample_weight", "PERWEIGHT", "Hochrechnungsfaktor", "Gewichtung_Haushalt", "权重"]
)
def test_weights_of_a_survey_are_no_weights_of_bodies(name):
    assert find_name_hint(name).meaning is NameMeaning.WEIGHT
    assert find_name_hint("weight").meaning is find_name_hint("Gewicht").meaning is NameMeaning.DEMOGRAPHIC


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("PID", NameMeaning.IDENTIFIER),
        ("身份证号", NameMeaning.IDENTIFIER),
        ("Behandlungskosten", NameMeaning.SENSITIVE),
        ("credit_amount", NameMeaning.SENSITIVE),
        ("Ausgaben", NameMeaning.SENSITIVE),
        ("Bruttolohn", NameMeaning.SENSITIVE),
        ("Vermoegen", NameMeaning.SENSITIVE),
        ("Vermögen", NameMeaning.SENSITIVE),
        ("Krankenkasse", NameMeaning.CATEGORY),
        ("医疗费用", NameMeaning.SENSITIVE),
    ],
)
def test_words_of_offices_are_known(name, meaning):
    assert find_name_hint(name).meaning is meaning


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("patient_nbr", NameMeaning.IDENTIFIER),
        ("客户编码", NameMeaning.IDENTIFIER),
        ("number_of_patients", NameMeaning.PERSON),
        ("diag_1", NameMeaning.SENSITIVE),
        ("nephritis", NameMeaning.SENSITIVE),
        ("冠心病", NameMeaning.SENSITIVE),
        ("病房", None),
        ("wt.loss", NameMeaning.SENSITIVE),
        ("sentence_months", NameMeaning.SENSITIVE),
        ("sentence_year", NameMeaning.DEMOGRAPHIC),
    ],
)
def test_beginnings_ends_and_neighbors_count(name, meaning):
    found = find_name_hint(name)
    assert (found.meaning if found else None) is meaning
