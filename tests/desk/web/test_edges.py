"""Figures for those who may read them, and reports of browsers from anybody: counted, bounded, never repeated."""

import ipaddress
import json

import pytest
from structlog.testing import capture_logs

from desk.views import reports

pytestmark = pytest.mark.django_db

REPORT = {
    "csp-report": {
        "violated-directive": "script-src-elem",
        "blocked-uri": "https://evil.example/x.js?token=canary-query",
        "document-uri": "https://desk.example/withdrawals/1/?code=canary-query",
    }
}


@pytest.fixture(autouse=True)
def room(monkeypatch):
    reports._arrivals.clear()


def send(client, facts, kind="application/csp-report", **more):
    body = facts if isinstance(facts, bytes | str) else json.dumps(facts)
    return client.post("/csp-reports", body, content_type=kind, **more)


@pytest.mark.parametrize(
    ("peer", "status"),
    [("127.0.0.1", 200), ("::1", 200), ("::ffff:127.0.0.1", 200), ("10.0.0.9", 403), ("192.0.2.1", 403), ("", 403)],
)
def test_figures_are_for_this_machine_alone(client, peer, status):
    assert client.get("/metrics", REMOTE_ADDR=peer).status_code == status


def test_figures_are_for_whom_the_setting_names(client, settings):
    settings.METRICS_ALLOW = [ipaddress.ip_network("10.0.0.0/8")]
    assert client.get("/metrics", REMOTE_ADDR="10.0.0.9").status_code == 200
    refused = client.get("/metrics", REMOTE_ADDR="127.0.0.1")
    assert (refused.status_code, b"countersign_" in refused.content) == (403, False)


def test_a_proxy_that_nobody_named_is_not_this_machine(client, settings):
    assert client.get("/metrics", headers={"X-Forwarded-For": "203.0.113.7"}).status_code == 403
    # The server has put the address that a trusted proxy forwarded in the peer's place.
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    assert (
        client.get("/metrics", headers={"X-Forwarded-For": "203.0.113.7"}, REMOTE_ADDR="203.0.113.7").status_code == 403
    )
    assert client.get("/metrics", headers={"X-Forwarded-For": "127.0.0.1"}, REMOTE_ADDR="127.0.0.1").status_code == 200


def test_a_report_is_counted_and_logged_without_queries(client):
    before = reports.REPORTS.labels("script-src-elem")._value.get()
    with capture_logs() as lines:
        answer = send(client, REPORT)
    assert (answer.status_code, answer.content) == (204, b"")
    rows = [line for line in lines if line["event"] == "csp.violation"]
    assert [(one["directive"], one["blocked"], one["page"]) for one in rows] == [
        ("script-src-elem", "https://evil.example/x.js", "https://desk.example/withdrawals/1/")
    ]
    assert "canary" not in str(lines)
    assert reports.REPORTS.labels("script-src-elem")._value.get() == before + 1


def test_what_falls_to_the_rule_for_everything_else_is_counted_by_its_own_name(client):
    """A frame that is stopped by `default-src` is reported as `frame-src` (seen from Chromium)."""
    for directive in ("frame-src", "worker-src", "media-src", "manifest-src"):
        before = reports.REPORTS.labels(directive)._value.get()
        send(client, [{"type": "csp-violation", "body": {"effectiveDirective": directive}}], "application/reports+json")
        assert reports.REPORTS.labels(directive)._value.get() == before + 1, directive


def test_the_newer_form_is_read_too(client):
    body = [{"type": "csp-violation", "body": {"effectiveDirective": "style-src-attr", "blockedURL": "inline"}}] * 50
    with capture_logs() as lines:
        assert send(client, body, "application/reports+json").status_code == 204
    assert [line["directive"] for line in lines if line["event"] == "csp.violation"] == ["style-src-attr"] * 20


@pytest.mark.parametrize(
    "body",
    [
        b"garbage",
        b"\xff\xfe",
        b"[" * 9_000,
        b"[1, null, []]",
        b'{"csp-report": 7}',
        b'{"csp-report": {"violated-directive": {"a": 1}, "blocked-uri": ["x"], "document-uri": 7}}',
        b'{"csp-report": {"violated-directive": "<script>\\u001b[31m", "blocked-uri": "http://[::1"}}',
    ],
)
def test_nothing_that_is_sent_breaks_it_or_comes_back(client, body):
    with capture_logs() as lines:
        answer = send(client, body)
    assert (answer.status_code, answer.content) == (204, b"")
    assert "\x1b" not in str(lines)
    assert "<script>" not in str(lines)


def test_size_kind_and_number_are_bounded(client):
    assert send(client, b"x" * (reports.MOST_BYTES + 1)).status_code == 413
    assert send(client, REPORT, "text/plain").status_code == 400
    statuses = [send(client, REPORT).status_code for _ in range(reports.MOST_REPORTS + 5)]
    assert set(statuses) == {204, 429}
    assert statuses[-1] == 429


def test_other_methods_and_other_sites(client):
    assert client.get("/csp-reports").status_code == 405
    assert send(client, REPORT, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 204
