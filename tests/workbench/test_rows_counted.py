"""Where an identifier repeats, the page says that rows are counted, and goes on only when asked to."""

import re
from html import unescape

import pytest


@pytest.fixture
def visits(bench_client, tmp_path):
    """Return a client with a table of 40 visits of 10 patients."""
    rows = [f"P{number // 4},{20 + number // 4},{('flu', 'cold')[number % 2]}" for number in range(40)]
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(["patient_id,age,disease", *rows]) + "\n", encoding="utf-8")
    assert bench_client.open(path).state == "done"
    roles = {"patient_id": "identifier", "age": "quasi", "disease": "sensitive"}
    bench_client.patch(*((["attributes", name], {"role": role}) for name, role in roles.items()))
    bench_client.patch((["models"], [{"name": "k-anonymity", "k": 4}]))
    return bench_client


def shown(client, page, language="en"):
    return unescape(client.get(page, headers={"accept-language": language}).text)


def test_a_search_goes_on_only_after_the_button_that_counts_rows(visits):
    assert visits.job("risk").state == "done"
    assert "40 rows belong to 10 individuals" in shown(visits, "/search")
    assert "40 行属于 10 个人" in shown(visits, "/search", "zh")
    failed = visits.job("anonymize")
    assert (failed.state, failed.kind) == ("failed", "InfeasibleError")
    for language, button in (("en", "Go on, and count rows"), ("zh", "仍然继续，按行计数")):
        problem = re.search(r'id="job-problem".*?</div>', shown(visits, "/search", language), re.DOTALL)[0]
        assert button in problem
        assert "count_rows=" not in problem
    assert visits.patch((["release", "count_rows"], True)).status_code == 200
    assert visits.job("anonymize").state == "done"
    assert visits.job("risk").state == "done"
    page = shown(visits, "/release", "zh")
    assert "40 行属于 10 个人" in re.search(r'id="verdict".*?</div>', page, re.DOTALL)[0]
    assert "不再按行计数" in page


def test_one_row_per_individual_has_no_button(bench_client, persons_csv):
    assert bench_client.open(persons_csv).state == "done"
    assert bench_client.job("risk").state == "done"
    assert 'id="count-rows"' not in shown(bench_client, "/search")


def test_two_releases_of_one_table_are_said_to_be_for_one_receiver_only(bench_client, persons_csv):
    assert bench_client.open(persons_csv).state == "done"
    assert bench_client.job("anonymize").state == "done"
    for number in (1, 2):
        assert bench_client.job("write", candidate=bench_client.desk.chosen, report=False).state == "done"
        assert ('id="together"' in shown(bench_client, "/release")) is (number == 2)
    assert "请只发布其中一个" in shown(bench_client, "/release", "zh")
