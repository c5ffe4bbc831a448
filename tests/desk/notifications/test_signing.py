"""Webhooks are signed so that a receiver tells ours from others', today's from yesterday's, and once from twice."""

import base64
import hmac
from datetime import UTC, datetime, timedelta

import pytest

from desk.notifications import signing
from wire.values import Secret

NOW = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
BODY = b'{"type":"incident.opened"}'


def test_a_signature_is_what_the_scheme_says():
    key = Secret("whsec_" + base64.b64encode(bytes(range(32))).decode())
    sent = signing.headers("msg_1", NOW, BODY, [key])
    by_hand = hmac.digest(bytes(range(32)), b"msg_1.%d." % NOW.timestamp() + BODY, "sha256")
    assert sent == {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(NOW.timestamp())),
        "webhook-signature": "v1," + base64.b64encode(by_hand).decode(),
    }
    assert signing.verify(BODY, sent, key, now=NOW) == "msg_1"


def test_while_a_secret_is_turned_both_fit():
    old, new = signing.new_secret(), signing.new_secret()
    sent = signing.headers("msg_1", NOW, BODY, [new, old])
    assert signing.verify(BODY, sent, old, now=NOW) == signing.verify(BODY, sent, new, now=NOW) == "msg_1"


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("webhook-id", "msg_2"),
        ("webhook-timestamp", str(int(NOW.timestamp()) + 1)),
        ("webhook-timestamp", "soon"),
        ("webhook-timestamp", "9" * 30),
        ("webhook-signature", "v1,AAAA"),
        ("webhook-signature", ""),
        ("webhook-signature", "v2,\u00e9"),
    ],
)
def test_whatever_is_altered_is_refused(header, value):
    key = signing.new_secret()
    sent = signing.headers("msg_1", NOW, BODY, [key]) | {header: value}
    with pytest.raises(signing.NotGenuine):
        signing.verify(BODY, sent, key, now=NOW)


def test_another_body_another_secret_and_an_old_message_are_refused():
    key = signing.new_secret()
    sent = signing.headers("msg_1", NOW, BODY, [key])
    for body, secret, now in (
        (BODY + b" ", key, NOW),
        (BODY, signing.new_secret(), NOW),
        (BODY, key, NOW + timedelta(seconds=301)),
        (BODY, key, NOW - timedelta(seconds=301)),
    ):
        with pytest.raises(signing.NotGenuine):
            signing.verify(body, sent, secret, now=now)
    assert signing.verify(BODY, sent, key, now=NOW + timedelta(minutes=5))
