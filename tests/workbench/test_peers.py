"""Other users of the machine: what they send is refused, whatever they know."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from sfumato.workbench import _peer_users
from sfumato.workbench._access_control import COOKIE
from sfumato.workbench._peer_users import is_other_user, socket_owner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a socket is")
NOBODY = 65534
PYTHON = "/usr/bin/python3"  # which another user may run
ASK = """
import http.client, sys
host, port, path, cookie = sys.argv[1:]
connection = http.client.HTTPConnection(host, int(port), timeout=60)
connection.request("GET", path, headers={"cookie": cookie, "x-forwarded-for": "192.0.2.1"})
answer = connection.getresponse()
print(answer.status, answer.read().decode())
"""


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_the_system_tells_whose_a_connection_is(family, host):
    with socket.create_server((host, 0), family=family) as server, socket.socket(family) as client:
        client.connect(server.getsockname()[:2])
        ends = client.getsockname()[:2], server.getsockname()[:2]
        assert socket_owner(*ends) == os.getuid()
        assert not is_other_user(*ends)
        assert socket_owner(ends[0], ("127.0.0.1", 1)) is None
    assert socket_owner(*ends) is None


def test_another_user_is_a_stranger_and_whoever_is_unknown_is_not(monkeypatch):
    monkeypatch.setenv("SUDO_UID", "1234")
    for owner, strange in ((os.getuid(), False), (0, False), (1234, False), (54321, True), (None, False)):
        monkeypatch.setattr(_peer_users, "socket_owner", lambda *_, owner=owner: owner)
        assert is_other_user(("127.0.0.1", 1), ("127.0.0.1", 2)) is strange
    assert not is_other_user(None, ("127.0.0.1", 2))


def test_strangers_get_nothing_whatever_they_know(opened_client, monkeypatch):
    monkeypatch.setattr(_peer_users, "socket_owner", lambda *_: 54321)
    for path in ("/", "/data", "/rows/original", "/static/page.js"):
        answer = opened_client.get(path)
        assert answer.status_code == 403
        assert "Person" not in answer.text
    token = opened_client.gate.issue_token()
    assert opened_client.post("/enter", {"token": token}).status_code == 403
    monkeypatch.undo()
    assert opened_client.post("/enter", {"token": token}).status_code == 204  # and uses no token up


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0 or not Path(PYTHON).exists(), reason="only root can become another user")
def test_a_process_of_another_user_is_refused_with_the_cookie_and_the_path(start_server, persons_csv):
    server = start_server(persons_csv)
    with httpx.Client(base_url=server.base, headers={"origin": server.origin, "x-sfumato": "1"}, timeout=60) as client:
        assert client.post("/enter", json={"token": server.url.partition("#")[2]}).status_code == 204
        cookie = f"{COOKIE}={client.cookies[COOKIE]}"
    place, path = server.origin.removeprefix("http://").split(":"), "/" + server.base.rpartition("/")[2]
    asked = [PYTHON, "-c", ASK, *place, f"{path}/data", cookie]
    told = subprocess.run(asked, user=NOBODY, capture_output=True, text=True, check=True).stdout  # noqa: S603 - ours
    assert told.startswith("403 ")
    assert "answers the user who started it only" in told
