"""Sockets are for pages of exactly this address: the scheme and the port count, not the host alone."""

import pytest

from project.origins import is_own

DESK = "desk.example"


@pytest.fixture(autouse=True)
def live_desk_by_tls(settings):
    settings.ALLOWED_HOSTS = [DESK]
    settings.SECURE_COOKIES = True
    settings.CSRF_TRUSTED_ORIGINS = []


def comes(origin, host=DESK, *more):
    origins = [origin] if isinstance(origin, str) else origin
    rows = [(b"host", host.encode()), *((b"origin", one.encode()) for one in origins), *more]
    return is_own(rows)


TOKEN, BY_TLS = (b"authorization", b"Bearer csn_x"), (b"x-forwarded-proto", b"https")


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("https://desk.example", DESK),
        ("https://desk.example", "desk.example:443"),
        ("https://DESK.example", "Desk.Example"),
        ("https://desk.example:8443", "desk.example:8443"),
    ],
)
def test_our_own_page_comes_in(origin, host):
    assert comes(origin, host)


@pytest.mark.parametrize(
    "origin",
    [
        "http://desk.example",
        "https://desk.example:8443",
        "https://desk.example:80",
        "http://desk.example:443",
        "ws://desk.example",
        "wss://desk.example",
        "https://sub.desk.example",
        "https://desk.example.evil.example",
        "https://evil.example",
        "https://evil.example#https://desk.example",
        "https://desk.example/",
        "https://desk.example.",
        "https://user@desk.example",
        "//desk.example",
        "desk.example",
        "null",
        "",
        [],
        ["https://desk.example", "https://evil.example"],
    ],
)
def test_nobody_else_does(origin):
    assert not comes(origin)


def test_a_host_that_is_not_ours_has_no_pages():
    assert not comes("https://evil.example", "evil.example")


def test_an_origin_that_the_deployment_trusts_comes_in(settings):
    settings.CSRF_TRUSTED_ORIGINS = ["https://front.example:8443"]
    assert comes("https://front.example:8443")
    assert not comes("https://front.example")


def test_the_demo_speaks_plain_http(settings):
    settings.SECURE_COOKIES = False
    assert comes("http://desk.example:8000", "desk.example:8000")
    assert not comes("https://desk.example:8000", "desk.example:8000")
    assert not comes("http://desk.example", "desk.example:8000")


def test_a_program_with_a_token_needs_no_origin_and_none_that_is_foreign():
    assert comes([], DESK, TOKEN, BY_TLS)
    assert comes("https://desk.example", DESK, TOKEN, BY_TLS)
    assert not comes("https://evil.example", DESK, TOKEN, BY_TLS)
    assert not comes("null", DESK, TOKEN, BY_TLS)
    assert not comes("", DESK, TOKEN, BY_TLS)
    assert not comes([], "evil.example", TOKEN, BY_TLS)


@pytest.mark.parametrize("header", [b"Basic Zm9v", b"csn_x", b"", b"BearerX csn_x"])
def test_without_an_origin_another_credential_opens_nothing(header):
    assert not comes([], DESK, (b"authorization", header), BY_TLS)
    assert not comes([], DESK, TOKEN, (b"authorization", header), BY_TLS)
    assert not comes([], DESK, (b"cookie", b"Bearer=csn_x"), BY_TLS)


def test_a_token_that_came_without_tls_opens_nothing_but_in_the_demo(settings):
    for scheme in ([], [(b"x-forwarded-proto", b"http")], [BY_TLS, BY_TLS], [(b"x-forwarded-proto", b"http, https")]):
        assert not comes([], DESK, TOKEN, *scheme)
        assert not comes("https://desk.example", DESK, TOKEN, *scheme)
    assert comes([], DESK, TOKEN, (b"x-forwarded-proto", b"https, http"))
    settings.SECURE_COOKIES = False
    assert comes([], DESK, TOKEN)
