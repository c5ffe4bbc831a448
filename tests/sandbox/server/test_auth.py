"""Who calls: Basic and HS256 on requests and at the login of a socket, and every way to get them wrong."""

import base64
import hashlib
import hmac
from enum import Enum

import pytest

from sandbox.exchange.terms import Refusal
from sandbox.server import auth
from sandbox.server.auth import Signed
from sandbox.settings import keys

NOW_MS = 1_700_000_000_000
NOW = "1700000000"
KEYS = keys.seeded()
REQUEST = Signed("POST", b"/api/2/account/crypto/withdraw", b"", b"currency=BTC&amount=1")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def basic(login: str = "demo-full", secret: str = "demo-full-secret") -> str:
    return "Basic " + encoded(f"{login}:{secret}")


def hs256(login: str = "demo-full", timestamp: str = NOW, signed: Signed = REQUEST, secret: str | None = None) -> str:
    key = (secret or f"{login}-secret").encode()
    query = b"?" + signed.query if signed.query else b""
    message = signed.method.encode() + timestamp.encode() + signed.raw_path + query + signed.body
    return "HS256 " + encoded(f"{login}:{timestamp}:{hmac.new(key, message, hashlib.sha256).hexdigest()}")


def refused(header: str | None, signed: Signed = REQUEST, clocks_ms: tuple[int, ...] = (NOW_MS,)) -> int:
    """The code with which the header is refused."""
    with pytest.raises(Refusal) as refusal:
        auth.of_request(KEYS, header, signed, clocks_ms=clocks_ms)
    return refusal.value.code


def test_both_schemes_give_the_caller_with_the_rights_of_the_key() -> None:
    for header in (basic(), hs256(), "bAsIc " + encoded("demo-full:demo-full-secret")):
        caller = auth.of_request(KEYS, header, REQUEST, clocks_ms=(NOW_MS,))
        assert (caller.login, caller.account, len(caller.rights)) == ("demo-full", "desk@demo.test", 4)


@pytest.mark.parametrize("header", [None, "", "   "])
def test_without_credentials_1001(header: str | None) -> None:
    assert refused(header) == 1001


@pytest.mark.parametrize("header", ["Bearer abc", "Digest username=x", "demo-full:demo-full-secret", "HS512 abc"])
def test_another_scheme_1004(header: str) -> None:
    assert refused(header) == 1004


@pytest.mark.parametrize(
    "header",
    [
        "Basic",
        "Basic ",
        "Basic !!!!",
        "Basic " + encoded("demo-full"),
        "Basic " + encoded(":"),
        "Basic " + encoded(":no key has this secret"),
        basic(secret="demo-full-secre"),
        basic(secret="demo-full-secret "),
        basic(secret="Demo-full-secret"),
        basic(secret=""),
        basic(login="demo-read"),
        basic(login="DEMO-FULL"),
        basic(login="nobody"),
        "Basic " + base64.b64encode(b"\xff\xfe:x").decode(),
        "Basic " + encoded("x" * 5_000),
        "HS256",
        "HS256 " + encoded("demo-full"),
        "HS256 " + encoded("demo-full:" + NOW),
        "HS256 " + encoded(f"demo-full:{NOW}:"),
        "HS256 " + encoded(f"demo-full:{NOW}:" + "0" * 64),
        "HS256 " + encoded(f":{NOW}:" + "0" * 64),
        hs256(secret="demo-read-secret"),
        hs256(login="nobody"),
        hs256(timestamp="x"),
        hs256(timestamp="-1"),
        hs256(timestamp="\u0661\u0667" + "\u0660" * 8),
        hs256(timestamp="1" * 40),
    ],
)
def test_credentials_that_prove_nothing_1002(header: str) -> None:
    assert refused(header) == 1002


def test_every_mutation_of_a_signature_is_refused() -> None:
    """One character of the encoded credentials at a time, replaced by each character of its alphabet."""
    header = hs256()
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
    for place in range(len("HS256 "), len(header)):
        for character in alphabet:
            if character != header[place]:
                assert refused(header[:place] + character + header[place + 1 :]) == 1002


def test_a_signature_in_upper_case_and_one_that_was_cut_are_refused() -> None:
    text = base64.b64decode(hs256().removeprefix("HS256 ")).decode()
    login, timestamp, signature = text.split(":")
    for mutated in (signature.upper(), signature[:-1], signature + "0", " " + signature, signature + "\n"):
        assert refused("HS256 " + encoded(f"{login}:{timestamp}:{mutated}")) == 1002


@pytest.mark.parametrize(
    "changed",
    [
        Signed("PUT", REQUEST.raw_path, b"", REQUEST.body),
        Signed("POST", b"/api/2/account/crypto/withdraw/", b"", REQUEST.body),
        Signed("POST", b"/account/crypto/withdraw", b"", REQUEST.body),
        Signed("POST", REQUEST.raw_path, b"a=1", REQUEST.body),
        Signed("POST", REQUEST.raw_path, b"", REQUEST.body + b"0"),
        Signed("POST", REQUEST.raw_path, b"", b"amount=1&currency=BTC"),
        Signed("POST", REQUEST.raw_path, b"", b""),
    ],
)
def test_a_signature_covers_method_path_query_and_body(changed: Signed) -> None:
    assert refused(hs256(), signed=changed) == 1002


def test_the_query_is_covered_as_it_was_sent() -> None:
    sent = Signed("GET", b"/api/2/account/transactions", b"sort=ASC&from=2020-01-01T00%3A00Z", b"")
    assert auth.of_request(KEYS, hs256(signed=sent), sent, clocks_ms=(NOW_MS,)).login == "demo-full"
    other_order = Signed("GET", sent.raw_path, b"from=2020-01-01T00%3A00Z&sort=ASC", b"")
    assert refused(hs256(signed=sent), signed=other_order) == 1002


def test_a_timestamp_is_fresh_for_a_minute_by_either_clock() -> None:
    minute = 60_000
    for clocks_ms in ((NOW_MS + minute,), (NOW_MS - minute,), (NOW_MS + 55 * minute, NOW_MS), (NOW_MS, 0)):
        assert auth.of_request(KEYS, hs256(), REQUEST, clocks_ms=clocks_ms).login == "demo-full"
    assert refused(hs256(), clocks_ms=(NOW_MS + minute + 1,)) == 1002
    assert refused(hs256(), clocks_ms=(NOW_MS - minute - 1, NOW_MS + 55 * minute)) == 1002


class Right(Enum):
    WITHDRAW = "Withdraw cryptocurrencies"


def test_a_right_the_key_lacks_1003_and_none_is_met_by_every_key() -> None:
    reader = auth.of_request(KEYS, basic("demo-read", "demo-read-secret"), REQUEST, clocks_ms=(NOW_MS,))
    with pytest.raises(Refusal) as refusal:
        auth.require(reader, Right.WITHDRAW)
    assert refusal.value.code == 1003
    auth.require(reader, None)
    auth.require(auth.of_request(KEYS, basic(), REQUEST, clocks_ms=(NOW_MS,)), Right.WITHDRAW)


def test_the_claimed_login_is_read_from_any_header_without_failing() -> None:
    assert auth.claimed_login(basic("demo-read", "wrong")) == "demo-read"
    assert auth.claimed_login(hs256()) == "demo-full"
    for header in (None, "", "Basic", "Basic !!", "Basic " + base64.b64encode(b"\xff").decode()):
        assert auth.claimed_login(header) == ""


# Sockets -------------------------------------------------------------------------------------------------------------

NONCE = "N1g287gL8YOwDZr"


def signature(nonce: str = NONCE, secret: str = "demo-full-secret") -> str:
    return hmac.new(secret.encode(), nonce.encode(), hashlib.sha256).hexdigest()


def test_a_socket_logs_in_with_the_secret_or_with_a_signed_nonce() -> None:
    for params in (
        {"algo": "BASIC", "pKey": "demo-full", "sKey": "demo-full-secret"},
        {"algo": "HS256", "pKey": "demo-full", "nonce": NONCE, "signature": signature()},
        {"algo": "hs256", "pKey": "demo-full", "nonce": "ünïcode", "signature": signature("ünïcode")},
    ):
        assert auth.of_login(KEYS, params).account == "desk@demo.test"


@pytest.mark.parametrize(
    ("params", "description"),
    [
        ({}, "algo must be BASIC or HS256"),
        ({"algo": "RS256"}, "algo must be BASIC or HS256"),
        ({"algo": ["BASIC"]}, "algo must be BASIC or HS256"),
        ({"algo": "BASIC"}, "pKey is missing or no text"),
        ({"algo": "BASIC", "pKey": "demo-full"}, "sKey is missing or no text"),
        ({"algo": "BASIC", "pKey": "demo-full", "sKey": None}, "sKey is missing or no text"),
        ({"algo": "BASIC", "pKey": "demo-full", "sKey": 1}, "sKey is missing or no text"),
        ({"algo": "BASIC", "pKey": "demo-full", "sKey": "wrong"}, ""),
        ({"algo": "BASIC", "pKey": "nobody", "sKey": "no key has this secret"}, ""),
        ({"algo": "BASIC", "pKey": "demo-full", "sKey": "\ud800"}, ""),
        ({"algo": "HS256", "pKey": "demo-full", "nonce": NONCE}, "signature is missing or no text"),
        (
            {"algo": "HS256", "pKey": "demo-full", "nonce": "", "signature": signature("")},
            "nonce is missing or no text",
        ),
        ({"algo": "HS256", "pKey": "demo-full", "nonce": NONCE, "signature": "abc"}, "invalid signature format"),
        (
            {"algo": "HS256", "pKey": "demo-full", "nonce": NONCE, "signature": signature().upper()},
            "invalid signature format",
        ),
        ({"algo": "HS256", "pKey": "demo-full", "nonce": NONCE + "x", "signature": signature()}, ""),
        ({"algo": "HS256", "pKey": "demo-read", "nonce": NONCE, "signature": signature()}, ""),
    ],
)
def test_a_login_that_proves_nothing_1002(params: dict[str, object], description: str) -> None:
    with pytest.raises(Refusal) as refusal:
        auth.of_login(KEYS, params)
    assert (refusal.value.code, refusal.value.description) == (1002, description)
