"""The guard: every rule of the security page, tried to be broken."""

from __future__ import annotations

import http.client
import re

import pytest
from starlette.routing import Route

from sfumato.workbench._access_control import OPEN, POLICY, READS, AccessTokens
from sfumato.workbench._rendering import PLACES

PORT = 8123
TOLD = (
    "/data",
    "/roles",
    "/recipe",
    "/recipe.toml",
    "/rows/original",
    "/columns/0",
    "/candidates",
    "/jobs/1",
    "/history",
)
WRITES = (
    ("POST", "/tables"),
    ("POST", "/tables/made-up"),
    ("POST", "/reading"),
    ("PATCH", "/recipe"),
    ("POST", "/undo"),
    ("POST", "/redo"),
    ("POST", "/changes/0"),
    ("POST", "/jobs"),
    ("DELETE", "/jobs/1"),
    ("POST", "/language"),
    ("POST", "/quit"),
    ("POST", "/candidates/1/choose"),
    ("POST", "/candidates/1/adopt"),
    ("POST", "/candidates/1/pin"),
)


def test_the_number_where_it_listens_is_answered(opened_client):
    assert opened_client.get("/", headers={"host": f"127.0.0.1:{PORT}"}).status_code == 307
    assert AccessTokens(port=PORT, host="::1").name == f"[::1]:{PORT}"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        f"127.0.0.1:{PORT}.evil.example",
        f"localhost:{PORT}",
        f"[::1]:{PORT}",
        f"127.0.0.1:{PORT + 1}",
        "127.0.0.1",
        f"127.0.0.1.evil.example:{PORT}",
        f"LOCALHOST:{PORT}",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/data", "/static/page.js", "/enter"])
def test_other_names_are_not(opened_client, host, path):
    assert opened_client.get(path, headers={"host": host}).status_code == 421


@pytest.mark.parametrize("path", TOLD)
def test_without_the_cookie_nothing_is_told(opened_client, path):
    for cookie in ("", "sfumato=", "sfumato=wrong", "sfumato=ä", f"other={opened_client.gate.session}"):
        answer = opened_client.run(opened_client.http.request("GET", path, headers={"cookie": cookie.encode()}))
        assert answer.status_code == 401, cookie
        assert "Person" not in answer.text


@pytest.mark.parametrize(("method", "path"), WRITES)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-sfumato": "1"},
        {"origin": f"http://127.0.0.1:{PORT}"},
        {"origin": "http://evil.example", "x-sfumato": "1"},
        {"origin": f"http://127.0.0.1:{PORT}.evil.example", "x-sfumato": "1"},
        {"origin": f"https://127.0.0.1:{PORT}", "x-sfumato": "1"},
        {"origin": "null", "x-sfumato": "1"},
        {"origin": f"http://localhost:{PORT}", "x-sfumato": "1"},
    ],
)
def test_other_pages_change_nothing(opened_client, method, path, headers):
    before = opened_client.desk.version
    answer = opened_client.run(opened_client.http.request(method, path, headers=headers, content=b"{}"))
    assert answer.status_code == 403
    assert opened_client.desk.version == before


def addresses(client):
    """List every address that the application has, with its methods."""
    routes = [route for route in client.application.asgi().routes if isinstance(route, Route)]
    return [(method, re.sub(r"\{\w+(:int)?\}", "1", route.path)) for route in routes for method in route.methods]


def test_no_address_was_forgotten(opened_client):
    listed = addresses(opened_client)
    assert len(listed) > 60
    stranger = {"cookie": "", **opened_client.headers}
    for method, path in listed:
        ask = opened_client.http.request
        if path not in {"/again", *OPEN}:
            answer = opened_client.run(ask(method, path, headers=stranger))
            assert answer.status_code == 401, (method, path)
        if method not in READS:
            answer = opened_client.run(ask(method, path, content=b"{}"))
            assert answer.status_code == 403, (method, path)


@pytest.mark.parametrize("path", [path for _, path in WRITES if path not in {"/recipe", "/jobs/1"}])
def test_reading_changes_nothing(opened_client, path):
    assert opened_client.get(path).status_code == 405


def test_a_token_opens_once(opened_client):
    token = opened_client.gate.issue_token()
    first, second = (opened_client.post("/enter", {"token": token}) for _ in range(2))
    assert first.status_code == 204
    assert second.status_code == 403
    cookie = first.headers["set-cookie"]
    assert cookie.startswith("sfumato=")
    assert {"HttpOnly", "SameSite=Strict", f"Path={opened_client.gate.path}/"} <= {
        part.strip() for part in cookie.split(";")
    }


@pytest.mark.parametrize("token", [None, 5, "", "wrong", ["a"]])
def test_other_tokens_do_not_open(opened_client, token):
    assert opened_client.post("/enter", {"token": token}).status_code == 403


def test_tokens_and_sessions_have_256_bits():
    gate = AccessTokens(port=1)
    assert all(len(secret) >= 43 for secret in (gate.issue_token(), gate.session, gate.key))
    assert re.fullmatch("/[0-9a-f]{32}", gate.path)  # 128 bits
    assert gate.path != AccessTokens(port=1).path
    assert "43" not in repr(gate)
    assert gate.session not in repr(gate)
    assert gate.path not in repr(gate)


def test_another_token_needs_the_key_of_the_owner(opened_client):
    assert opened_client.post("/again").status_code == 403
    answer = opened_client.run(opened_client.http.post("/again", headers={"x-sfumato": opened_client.gate.key}))
    token = answer.json()["token"]
    assert opened_client.post("/enter", {"token": token}).status_code == 204


@pytest.mark.parametrize("path", ["/", "/data", "/recipe", "/rows/original", "/nothing", "/static/page.js"])
def test_every_answer_has_the_headers(opened_client, path):
    headers = opened_client.get(path).headers
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == ("no-cache" if path.startswith("/static/") else "no-store")
    assert not [name for name in headers if name.startswith("access-control")]


def test_an_answer_to_strangers_has_them_too(opened_client):
    answer = opened_client.get("/data", headers={"host": "evil.example", "origin": "http://evil.example"})
    assert answer.headers["content-security-policy"] == POLICY
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_pages_hold_no_script_or_style_of_their_own(opened_client):
    assert opened_client.job("anonymize").state == "done"
    for step in PLACES:
        page = opened_client.get(f"/{step}").text
        assert not re.search(r"<script(?![^>]*\bsrc=)", page)
        assert not re.search(r"<[^>]*\s(style|on\w+)=", page)
        assert "<style" not in page


@pytest.mark.parametrize(
    "path",
    [
        "/static/../guard.py",
        "/static/%2e%2e/guard.py",
        "/static/..%2fguard.py",
        "/static/%2e%2e%2fguard.py",
        "/static/....//guard.py",
        "/releases/1/..%2f..%2frecipe.toml",
        "/releases/1/../../recipe.toml.zip",
        "/releases/..%2f1/public.zip",
        "/rows/candidate/..%2f..%2foriginal",
        "/releases/1/internal%2frecipe.zip",
    ],
)
def test_no_path_leads_out(opened_client, path):
    answer = opened_client.get(path)
    assert answer.status_code in {404, 405, 422}
    assert "import" not in answer.text


@pytest.mark.parametrize("file", ["/etc/passwd", "../../etc/passwd", "hierarchies/../../secret.csv"])
def test_no_recipe_reads_files_elsewhere(opened_client, file):
    answer = opened_client.patch((["attributes", "age", "hierarchy"], {"file": file}), step="hierarchies")
    assert answer.status_code == 422
    assert "outside the folder" in answer.json()["error"]


def test_a_server_refuses_the_same_over_a_real_connection(start_server):
    server = start_server()
    port = int(server.origin.rsplit(":", 1)[1])
    path = "/" + server.base.rpartition("/")[2]
    told = ("/static/../guard.py", "/static/%2e%2e/guard.py", "//evil.example/data", "/data")
    for asked in (*told, *(f"{path}{each}" for each in told)):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.putrequest("GET", asked, skip_host=True)
        connection.putheader("Host", f"127.0.0.1:{port}")
        connection.endheaders()
        answer = connection.getresponse()
        assert answer.status in {400, 401, 404}
        assert "server" not in {name.lower() for name, _ in answer.getheaders()}
        connection.close()
    for hosts in (["evil.example"], [], [f"127.0.0.1:{port}", "evil.example"]):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.putrequest("GET", f"{path}/", skip_host=True)
        for host in hosts:
            connection.putheader("Host", host)
        connection.endheaders()
        assert connection.getresponse().status in {400, 421}
        connection.close()


@pytest.mark.parametrize(
    "path", ["/", "/data", "/recipe", "/rows/original", "/static/page.js", "/enter", "/again", "//data"]
)
def test_nothing_is_told_outside_the_secret_path(opened_client, path):
    gate, ask = opened_client.gate, opened_client.http.request
    wrong = ("", "/" + "0" * 32, gate.path[:-1], gate.path + "0", gate.path.upper() + "/..", "/" + gate.path, "/ä")
    for start in wrong:
        for method in ("GET", "POST"):
            given = {**opened_client.headers, "cookie": f"sfumato={gate.session}"}
            answer = opened_client.run(ask(method, f"{gate.origin}{start}{path}", headers=given))
            assert answer.status_code == 404, (start, path)
            assert gate.path[1:] not in answer.text + str(answer.headers)
            assert "Person" not in answer.text


def test_no_answer_tells_the_secret_path(opened_client):
    assert opened_client.job("anonymize").state == "done"
    gate = opened_client.gate
    answers = [opened_client.get(path) for path in ("/", "/candidates", "/recipe.toml", "/rows/original", *PLACES)]
    answers += [opened_client.get(path, headers={"cookie": ""}) for path in ("/", "/data", "/static/page.js")]
    for answer in answers:
        assert gate.path[1:] not in answer.text + str(answer.headers), answer.url
    assert opened_client.get("/").headers["location"] == "data"


def test_cookies_that_another_port_gave_the_browser_lock_nobody_out(opened_client):
    session = f"sfumato={opened_client.gate.session}"
    for cookie in (f"sfumato=x; {session}", f"{session}; sfumato=x", f'a="; {session}', f"b,c; =; ;{session}; \\"):
        assert opened_client.get("/data", headers={"cookie": cookie}).status_code == 200, cookie


def test_behind_a_proxy_one_name_is_answered_and_only_by_https():
    gate = AccessTokens(port=PORT, proxy="bench.example")

    def scope(host, **headers):
        named = {"host": host, "cookie": f"sfumato={gate.session}", **headers}
        return {
            "type": "http",
            "method": "GET",
            "path": f"{gate.path}/data",
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()],
        }

    assert gate.rejection_reason(scope("bench.example", x_forwarded_proto="https")) is None
    assert gate.rejection_reason(scope("bench.example"))[0] == 403
    assert gate.rejection_reason(scope(f"127.0.0.1:{PORT}", x_forwarded_proto="https"))[0] == 421
    assert "Secure" in gate.set_cookie()
