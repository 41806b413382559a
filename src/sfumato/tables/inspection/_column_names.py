"""What the name of a column suggests, in English, German, French, Spanish and Chinese."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cache
from typing import NamedTuple

MIN_STEM = 5  # shorter words count only as whole words of a name
PREPOSITIONS = {"of", "at", "in", "for", "by", "per", "de", "du", "des", "del", "von", "vom", "bei"}


class NameMeaning(Enum):
    """What a known word in a column name suggests."""

    IDENTIFIER = "identifier"
    LABEL = "label"
    PERSON = "person"
    FREE_TEXT = "free text"
    POSTCODE = "postcode"
    CATEGORY = "category"
    DEMOGRAPHIC = "demographic"
    SENSITIVE = "sensitive"
    AMOUNT = "amount"
    OUTCOME = "outcome"
    WEIGHT = "weight"


# Words of five letters or more, all Chinese words, and those after a tilde are found anywhere in a name; shorter words,
# and those after an equals sign, only as separate words or as the whole name; those after a caret at the beginning of
# a word, and those after a dollar sign at the end of a name. Accents, umlauts written as two letters, case and
# separators do not matter.
WORDS = {
    NameMeaning.IDENTIFIER: """
        firstname lastname surname fullname givenname familyname maidenname middlename forename birthname
        nickname username loginname =login personname patientname customername clientname employeename
        studentname mothername fathername contactname personid patientid userid customerid clientid memberid
        employeeid studentid patientnumber personnumber customernumber clientnumber membernumber
        studentnumber employeenumber subjectid participantid respondentid caseid recordid rowid
        =pid =uid =uuid =guid =ssn socialsecurity nationalid taxid taxpayer =tin passport idcard driverlicense
        driverslicense driverslicence licensenumber licencenumber licenseplate licenceplate numberplate =vin
        medicalrecord recordnumber =mrn =nhs nhsnumber insurancenumber insuranceid policynumber healthplanid
        beneficiary accountnumber accountno accountid =account bankaccount creditcard cardnumber =iban =bic
        email phone mobilenumber cellnumber =mobile =tel =fax telefax address street =homepage website
        =url =ip =ipv ipaddress macaddress =mac =imei =imsi deviceid serialnumber fingerprint biometric =photo
        portrait faceimage householdid =hid =hhid =hhnr haushaltsid haushaltsnummer badgenumber
        vorname nachname familienname geburtsname =benutzer personennummer personalnummer patientennummer
        patientnr patientennr fallnummer kundennummer kundennr mitgliedsnummer versichertennummer
        versicherungsnummer versichertennr sozialversicherung =svnr steuernummer steuerid ausweis reisepass
        fuhrerschein kennzeichen kontonummer =konto telefon =handy anschrift adresse strasse hausnummer
        prenom nomdefamille securitesociale =nir =nss passeport telephone =courriel =portable =rue numclient
        numeropatient identifiant immatriculation
        apellido nombrecompleto =dni =nie =nif =curp =cedula pasaporte seguridadsocial telefono =movil correo
        direccion domicilio =calle matricula historiaclinica
        姓名 名字 身份证 护照 电话 手机 邮箱 邮件 地址 住址 病历号 住院号 门诊号 社保号 医保号 银行卡 账号
        卡号 车牌 学号 工号 微信 证号 号码 病案号 就诊号 户号 登记号 保单号 病人号 患者号 家庭编
        =maiden
    """,
    NameMeaning.LABEL: """
        =name =id =nom =nombre =kennung =identifier =identificador =no =nr =nbr =num =number nummer numero =serial =case
        =key =first =last badge kennziffer 编号 编码 名称
    """,
    NameMeaning.PERSON: """
        =patient =person =customer =client =employee =student =user =participant =member =subject =respondent
        =applicant =borrower =insured =claimant =tenant =voter =donor =resident =inmate
        =kunde ~patient =schuler =burger =versicherter befragte teilnehmer antragsteller mitarbeiter
        =paciente =persona =personne
        患者 病人 客户 个人 人员 用户 会员 学生 员工 职工 居民 投保人 被保险人
    """,
    NameMeaning.FREE_TEXT: """
        comment remark =notes =memo freetext narrative description freitext bemerkung kommentar beschreibung
        commentaire remarque comentario observacion descripcion 备注 描述 评论 说明
    """,
    NameMeaning.POSTCODE: """
        =zip zipcode =postcode postalcode postal =plz postleitzahl codepostal =cp codigopostal 邮编 邮政编码
    """,
    NameMeaning.CATEGORY: """
        =sex gender =race ethnic hispanic nationality country citizen marital marstat
        =job jobtitle occupation profession workclass employer employment industry department =state region
        county =city =town municipality district province birthplace language relationship hospital =clinic
        =ward school university =tribe
        geschlecht nationalitat staatsangehorig familienstand =beruf =land bundesland =ort wohnort
        geburtsort =stadt gemeinde landkreis =kreis herkunft sprache abteilung krankenhaus krankenkasse
        krankenversicherung branche
        =sexe =genre nationalite =pays =ville commune departement etatcivil situationfamiliale metier =langue
        hopital employeur
        =sexo =genero =raza =etnia nacionalidad =pais ciudad municipio provincia estadocivil ocupacion
        profesion =idioma empleo
        性别 民族 种族 国籍 国家 籍贯 省 城市 区县 婚姻 职业 职位 行业 部门 语言 学校 单位 医院
        =insurance =insurer =marriage =payer =payor versicherungsart 险种 医保类型
    """,
    NameMeaning.DEMOGRAPHIC: """
        =age birth =born =dob =yob =date education =educ schooling gradelevel degree =height =weight household
        familysize children admission discharge latitude longitude =lat =lon =lng location =place
        haircolor eyecolor =year =month =day veteran military
        =alter geburt =datum bildung schulabschluss abschluss =grosse korpergrosse gewicht kinder haushalt
        aufnahme entlassung =jahr gebjahr gebdat
        naissance =taille poids diplome etudes enfant foyer =annee entree sortie
        =edad nacimiento fecha educacion estudios estatura =altura =peso hijos hogar
        年龄 出生 生日 学历 教育 文化程度 身高 体重 日期 入院 出院 家庭 子女
    """,
    NameMeaning.SENSITIVE: """
        disease illness diagnos =icd symptom syndrome medication =drug prescri therap treatment surgery
        =hiv =aids =std cancer tumor tumour pregnan psychiat =mental mentalhealth disabilit injury testresult
        labresult result =ldl =hdl =bmi =chol totchol cholesterol glucose hba1c bloodpressure =bp =sysbp =diabp
        heartrate =pulse bloodtype
        genetic genome =dna mutation allerg causeofdeath =death mortality =health =healthy diabet stroke infarct
        hypertens ~asthma depress anxiety disorder severity =meds ~drug vaccin contracept fertility sexual surviv
        deceased expired expire fatal =died =dead hospitalized hospitalised =ecog ~karno =pain =hlth =dx =rx =sev =inj
        =kcal =gluc =hgb =wbc =rbc =gfr creatinin
        salary income =inc =wage earning =pay payroll bonus capital wealth =debt =loan =credit creditscore bankrupt
        savings =saving mortgage =rent expenditure expense spending poverty =tax =taxes =default =asset assets charges
        =balance crime criminal offense offence convict arrest prison =grade =gpa =marks exam =score politic
        sentence =party =vote tradeunion orientation abuse alcohol =alc ~smok cigarette ~cigs addiction
        satisfaction attrition performance =rating appraisal absence sickleave
        romantic dating relationshipstatus immigrationstatus asylum =visa unemploy welfare
        foodstamp =benefit =benefits =snap =ssi pension alimony allowance compensation reimburs insuranceclaim
        stockoption shares overdue arrears delinquen repayment overdraft checkingstatus checkingaccount
        accountstatus networth hourlyrate dailyrate monthlyrate payrate =incp =pincp =wagp =earnings =ern
        weightloss =wtloss calorie =mealcal nutrition =diet =dis =disab impairment handicap chronic acute comorbid
        complication infection infected =covid virus biopsy malignan metasta tumorsize recurrence relapse remission
        =dose dosage dischargestatus readmi lengthofstay ventilat intensivecare =icu =apgar
        cognitive dement =mmse =phq =gad suicid selfharm counsel harass complaint grievance disciplin terminat dismiss
        layoff resign violation penalty jail custody parole probation recidiv weapon victim
        finalgrade testscore =iq religion religious =faith denomination belief ideolog opinion attitude =stance ballot
        hemoglobin haemoglobin hematocrit platelet sodium potassium albumin bilirubin troponin insulin thyroid serum
        anemia anaemia angina ~ecg ~ekg electrocardio lesion nodule histolog gleason =psa receptor tumorstage =stage
        ~blood plasma bodymassindex waist =temp bodytemp oxygen =spo2 =fev1 lungfunction cardiac ~heart =copd arthrit
        epilep migraine obes insomnia =sleep =stress =mood happiness wellbeing lonel trauma =ptsd autis =adhd
        miscarriage abortion menopaus breastfeed condom =parity gravid partnerviolence disease =hepatitis tubercul
        tobacco nicotine marijuana cannabis cocaine opioid heroin =drinks drinking drinker =bac overdose
        hearing =deaf =blind limitation mobilityaid =fall =falls
        medicaid medicare =tanf =wic subsid voucher evict foreclos collateral installmentdebt =limitbal =billamt
        =payamt =fico =dti =ltv revenue profit turnover donation remittance =payout =claim =claims =premium cashflow
        bail verdict guilty =plea felony misdemeanor offender homicide murder =rape assault stalking perpetrator bully
        truan detention suspension expulsion dropout =failures absences =overtime burnout productivity engagement
        =stay staydays inpatientdays timeinhospital daysinhospital procedure =drg readmit triage =gcs disposition
        ^alc ^hiv ^diag ^delinq ^recid ^depr ^psych ^canc ^onco ^cardi ^hepat ^diab ^preg ^disab ^crim ^felon =fel
        =priors ^wage ^earn ^debt ^mortg interestrate =intrate payment =pymnt =pmt infarct paygrade paygroup
        $itis $emia $rosis $losis $hosis $bosis $pathy $algia
        krankheit krank befund medikament arznei therapie behandlung laborwert blutdruck blutwert blutgruppe pflege
        gesundheit impf gehalt einkommen ~lohn verdienst schulden vermogen ausgaben ausgabe aufwendung erstattung
        ~miete rente sozialhilfe arbeitslos kredit darlehen steuer konsum zufrieden leistungsbeurteilung fehlzeit
        straftat vorstraf schwanger behinder =partei gewerkschaft krebs =note
        kirchensteuer arbeitslosengeld burgergeld wohngeld kindergeld unterhalt zuschuss
        pension rentenhohe versicherungsleistung schaden beschwerde abmahnung kundig strafe haft urteil
        diagnose symptom allergi entzund operation infekt virus sucht rauch trink depress psych pflegegrad
        pflegestufe todesursache verstorben uberleben konfession religion glaube wahlabsicht wahlentscheidung
        parteipraferenz parteineigung sexuell orientierung aufenthaltsstatus asyl insolvenz pfandung schufa mahnung
        ruckstand zahlungsverzug einkunfte bezuge besoldung zulage zuzahlung erbschaft grundsicherung transferleistung
        spende fehltage krankentage krankheitstage krankmeldung bewertung zeugnis =gdb schmerz dosis rezept verordnung
        =ops verweildauer entlassungsart entlassungsgrund beatmung komplikation vorerkrankung erkrankung blutzucker
        cholesterin puls herz lunge niere leber hormon schlaf stress angst sturz bewahrung verurteil delikt tatvorwurf
        opfer tater einstellung meinung entlassgrund tarifgruppe entgeltgruppe gehaltsgruppe kirchgang selbsteinstufung
        zinssatz ratenhohe $leiden
        maladie traitement medicament salaire revenu casier grossesse handicap syndicat resultat
        enfermedad tratamiento medicamento salario sueldo ingresos delito calificacion embarazo discapacidad
        sindicato resultado
        疾病 病名 诊断 症状 药 处方 治疗 手术 化验 检验 检查结果 病史 血型 血压 血糖 怀孕 残疾 健康 吸烟 饮酒 护理
        工资 收入 薪 奖金 债 支出 开支 消费 花费 费用 医疗费 房租 存款 贷款 资产 财产 纳税 满意 犯罪 成绩 分数 绩效 考核
        政治 党 低保 救济 养老金 退休金 补贴 报销 理赔 逾期 欠款 信用 余额 股票 投资
        感染 并发症 过敏 肿瘤 癌 病理 影像 用药 剂量 住院天数 预后 死亡 死因 生存 复发 抑郁 心理 精神 传染 疫苗
        处罚 判决 刑 违纪 投诉 离职原因 评价 评级 宗教 信仰 党派 投票 态度 意见 工会
        病种 病情 病症 患病 发病 病因 病程 诊疗 医嘱 体检 体温 心率 脉搏 心电 血脂 胆固醇 肝功 肾功 尿酸 体质指数 睡眠
        听力 残障 孕 分娩 生育 避孕 性取向 性行为 艾滋 乙肝 结核 酗酒 吸毒 麻醉 疼痛 营养 出院情况 转归 疗效
        负债 欠费 税额 个税 公积金 房产 津贴 罚款 违约 征信 授信 额度 利息 还款 借款 流水 交易额 转账 保费 赔付
        报酬 待遇
        罪 案由 前科 拘留 举报 排名 学分 处分 旷课 评分 得分 考试 测评 $病 $症 $炎 利率
        healthcare chargedesc chargedegree chargetype =juv juvenile =misd $alc =union installment instalment =property
        dischargelocation dischargedestination dischargeto =chd =cvd =cad =chf =ckd =tia =afib =mci
        trestbps =bps thalach =exang =oldpeak =thal =fbs =alt =ast =alp =ggt =bun =crp =esr =mcv =mch =mchc =mpv =rdw
        =plt =hct =tsh =ldh =inr =trig ferritin amylase lipase triglycer uricacid lymphocyt neutrophil monocyt eosinoph
        basophil leukocyt erythrocyt globulin protein phosphatase transferase transaminase antigen antibod
        leukozyt erythrozyt thrombozyt kreatinin harnstoff harnsaure triglyzerid
        血 尿 酶 蛋白 抗原 抗体 甘油三酯 肌酐 细胞 激素 白球 胆红素 电解质
    """,
    NameMeaning.AMOUNT: """
        =cost amount =price =fee =charge quantity =qty =total betrag preis kosten menge montant =prix =cout
        quantite precio =coste importe cantidad 金额 价格 数量
        =amt =bill invoice rechnungsbetrag
    """,
    NameMeaning.OUTCOME: "=class =target =label =outcome =churn",
    NameMeaning.WEIGHT: """
        ~wgt sampleweight samplingweight surveyweight interviewweight examweight personweight
        perweight designweight finalweight analysisweight
        householdweight hhweight weightingfactor expansionfactor =perwt =hhwt
        hochrechnung gewichtung gewichtungsfaktor gewichthh gewichtperson ponderation ponderacion factorexpansion
        权重 权数 加权
    """,
}

TIMES = {"time", "times", "futime", "survtime", "survivaltime", "followup", "tte"}
DURATIONS = {"days", "weeks", "months", "years", "hours", "minutes", "tage", "wochen", "monate", "jahre", "stunden"}
RELATIVE = {"next", "last", "previous", "prev", "past", "following", "coming", "this", "current", "recent"}
RELATIVE |= {"letzter", "letzten", "letztes", "nachster", "nachsten", "nachstes", "dernier", "derniere", "prochain"}
PERIODS = {"year", "month", "day", "jahr", "annee"}
EVENTS = {"status", "event", "censor", "censored", "cens", "fustat", "death", "died", "dead"}
SPANS = ({"start"}, {"end", "stop"}, EVENTS | {"event"})  # of survival that is told from one time to another
CODES = {
    "code",
    "codes",
    "icd",
    "icd9",
    "icd10",
    "snomed",
    "loinc",
    "fips",
    "naics",
    "isco",
    "atc",
    "cpt",
    "ndc",
    "drg",
}
CODES |= {"cd", "kode", "schlussel", "codigo", "代码", "编码"}
CONDITIONS = """
    disorder disease syndrome finding infection infected injury fracture sprain laceration concussion pain fever cough
    carcinoma cancer tumor tumour neoplasm leukemia lymphoma diabet hypertens asthma pregnan miscarriage anemia stroke
    infarct failure sepsis pneumon depress anxiety schizo dement epilep obesity arthrit allerg ulcer obstruct arrest
    hemorrhag haemorrhag bleeding angina expired deceased hospice surgery $itis $osis $emia $algia $pathy
    krankheit $storung entzundung infekt verletzung fraktur krebs 病 症 炎 癌 瘤 综合征 感染 骨折 损伤 妊娠
"""
WEAK = {NameMeaning.LABEL, NameMeaning.PERSON, NameMeaning.OUTCOME}


class NameHint(NamedTuple):
    """A known word in a column name, and what it suggests."""

    meaning: NameMeaning
    word: str
    alone: bool
    """Whether the name consists of this word only."""
    label: bool
    """Whether the name contains a word for names or numbers of things, this one or another."""
    found_in: str = "column name"
    secret: str | None = None
    """The last word of the name that suggests something sensitive, whatever the name as a whole suggests."""

    @property
    def weak(self) -> bool:
        """Whether the word says little by itself."""
        return self.meaning in WEAK


class _WordMatch(NamedTuple):
    meaning: NameMeaning
    word: str
    start: int
    stop: int


def find_name_hint(name: str) -> NameHint | None:
    """Return what a column name suggests.

    A word for an identifier or a survey weight outweighs all others. Otherwise the last known word decides, because the
    others describe it, unless a preposition turns this around. An amount or a duration of something sensitive is
    sensitive. A period such as next month says when, not what.

    >>> find_name_hint("PatientID").meaning, find_name_hint("Geburtsdatum").meaning
    (<NameMeaning.IDENTIFIER: 'identifier'>, <NameMeaning.DEMOGRAPHIC: 'demographic'>)
    >>> find_name_hint("salary-class").word, find_name_hint("age_at_diagnosis").word, find_name_hint("x17")
    ('salary', 'age', None)
    >>> find_name_hint("sentence_months").word, find_name_hint("year_of_sentence").word
    ('sentence', 'year')
    >>> find_name_hint("default payment next month").word
    'payment'
    """
    tokens = _split_name(name)
    joined = "".join(tokens)
    matches = list(_iter_matches(tokens, joined))
    if not any(token in PREPOSITIONS for token in tokens):
        matches += _find_personal_numbers(matches)
    strong = [match for match in matches if match.meaning is NameMeaning.IDENTIFIER]
    strong = strong or [match for match in matches if match.meaning is NameMeaning.WEIGHT]
    weak = [match for match in matches if match.meaning in WEAK]
    other = [match for match in matches if match not in strong and match not in weak]
    head = _count_head_words(tokens)
    ranked = strong or [match for match in other if match.start < head] or other or weak
    if not ranked:
        return None
    best = max(ranked, key=lambda match: (match.stop, len(match.word)))
    if best.meaning is NameMeaning.AMOUNT or tokens[-1] in DURATIONS:
        of = [match for match in matches if match.meaning is NameMeaning.SENSITIVE]
        best = max(of, key=lambda match: match.stop, default=best)
    label = any(match.meaning is NameMeaning.LABEL for match in matches)
    secrets = [match for match in matches if match.meaning is NameMeaning.SENSITIVE]
    secret = max(secrets, key=lambda match: match.stop).word if secrets else None
    return NameHint(best.meaning, best.word, alone=best.stop - best.start == len(joined), label=label, secret=secret)


def has_survival_columns(names: Iterable[str]) -> bool:
    """Return whether a table tells how long people lived, or were well, and whether they still are.

    >>> has_survival_columns(["time", "status", "age"]), has_survival_columns(["time", "marital_status"])
    (True, False)
    """
    words = {"".join(_split_name(name)) for name in names}
    return bool(words & TIMES and words & EVENTS) or all(words & part for part in SPANS)


def is_code(name: str) -> bool:
    """Return whether a name says that a column holds codes of a classification, which are no amounts.

    >>> is_code("ICD9_CODE"), is_code("barcode_length"), is_code("诊断代码")
    (True, False, True)
    """
    tokens = _split_name(name)
    return any(token in CODES or token.endswith(("代码", "编码")) for token in [*tokens, "".join(tokens[-2:])])


def is_condition(text: str) -> bool:
    """Return whether a text seems to tell a disease, an injury or another state of health.

    >>> is_condition("Acute bronchitis (disorder)"), is_condition("Viral sinusitis"), is_condition("carpenter")
    (True, True, False)
    """
    tokens = _split_name(text)
    return any(_tells(word, tokens) for word in _conditions())


def _tells(word: str, tokens: list[str]) -> bool:
    if word.startswith("$"):
        return any(token.endswith(word[1:]) for token in tokens)
    return any(token.startswith(word) if word.isascii() else word in token for token in tokens)


@cache
def _conditions() -> tuple[str, ...]:
    return tuple(CONDITIONS.split())


def find_survival_hint(name: str) -> NameHint | None:
    """Return what a column of a survival table suggests, if it is the time or the event."""
    word = "".join(_split_name(name))
    known = TIMES.union(EVENTS, *SPANS)
    return NameHint(NameMeaning.SENSITIVE, word, alone=True, label=False) if word in known else None


def _split_name(name: str) -> list[str]:
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z\u00df]+|\d+|[^\W\d_A-Za-z]+", plain)
    return [token.casefold() for token in found]


def _iter_matches(tokens: list[str], joined: str) -> Iterator[_WordMatch]:
    whole, starts, ends, stems = (_load_vocabulary()[mark] for mark in "=^$~")
    start, before = 0, ""
    for token in tokens:
        known = token if token in whole else token.removesuffix("s")
        if known in whole and not (known in PERIODS and before in RELATIVE):
            yield _WordMatch(whole[known], known, start, start + len(token))
        yield from (
            _WordMatch(meaning, word, start, start + len(word))
            for word, meaning in starts.items()
            if token.startswith(word)
        )
        start, before = start + len(token), before if token.isdecimal() else token
    for known in {joined, joined.rstrip("0123456789")} & whole.keys() if len(tokens) > 1 else ():
        yield _WordMatch(whole[known], known, 0, len(known))
    for word in filter(joined.endswith, ends):
        yield _WordMatch(ends[word], word, start - len(word), start)
    plain = re.sub(r"([aou])e", r"\1", joined)  # umlauts written as two letters
    for stem, meaning in stems.items():
        place = max(joined.rfind(stem), plain.rfind(stem))
        if place >= 0:
            yield _WordMatch(meaning, stem, place, place + len(stem))


def _find_personal_numbers(matches: list[_WordMatch]) -> Iterator[_WordMatch]:
    """Find a person and a name or number side by side, which is an identifier."""
    for one in (each for each in matches if each.meaning is NameMeaning.PERSON):
        for other in (each for each in matches if each.meaning is NameMeaning.LABEL):
            if one.stop == other.start:
                yield _WordMatch(NameMeaning.IDENTIFIER, one.word + other.word, one.start, other.stop)


def _count_head_words(tokens: list[str]) -> int:
    length = 0
    for token in tokens:
        if length and token in PREPOSITIONS:
            break
        length += len(token)
    return length


@cache
def _load_vocabulary() -> dict[str, dict[str, NameMeaning]]:
    """Return all words by where they are found in a name: `=` a word of it, `^` and `$` its ends, `~` anywhere."""
    found: dict[str, dict[str, NameMeaning]] = {mark: {} for mark in "=^$~"}
    for meaning, words in WORDS.items():
        for word in words.split():
            plain = word.lstrip("".join(found))
            short = plain.isascii() and len(plain) < MIN_STEM
            mark = word[0] if plain != word else "=" if short else "~"
            found[mark][plain] = meaning
    return found
