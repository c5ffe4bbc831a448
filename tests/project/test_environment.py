"""Settings that can't be used stop the start with one sentence on standard error, and nothing else."""

import os
import runpy
import secrets
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from project import addresses, environment, secret_strength

ROOT = Path(environment.__file__).parent.parent


STRONG = "q7Zt0cXw4yPn_2rVbKf8sLmD-eJhGuTAoIiC3xE1vN9SzBk5R6QWlMpYdHgFaO"


def read_settings(tmp_path, expression="'read'", **values):
    """Import the settings in a process of their own; (exit code, what it printed, what it complained)."""
    command = [sys.executable, "-c", f"from project import settings; print({expression})"]
    ended = subprocess.run(command, env=surroundings(tmp_path, values), cwd=ROOT, capture_output=True, text=True)
    return ended.returncode, ended.stdout.strip(), ended.stderr.strip()


def surroundings(tmp_path, values):
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "DATA_DIR": str(tmp_path / "var"), **values}


def complaint_of(tmp_path, **values):
    """The sentence with which the settings, read in this process, would end it."""
    with (
        mock.patch.dict(os.environ, surroundings(tmp_path, values), clear=True),
        pytest.raises(environment.OddSetting) as refused,
    ):
        runpy.run_path(ROOT / "project" / "settings.py")
    return refused.value.code


def test_nothing_set_is_the_demo_desk_on_this_machine(tmp_path):
    code, printed, _ = read_settings(
        tmp_path, "settings.DEMO, settings.PORT, settings.EXCHANGE_URL, settings.REDIS_URL"
    )
    assert code == 0
    assert printed == f"True 8000 http://127.0.0.1:8100 unix://{tmp_path}/var/redis.sock"


RING = "a:" + "A" * 43 + "="
REAL_ADDRESSES = {
    "EXCHANGE_URL": "https://exchange.example",
    "EXCHANGE_WS_URL": "wss://exchange.example",
    "CHAINDATA_URL": "https://chain.example",
}
TUNNEL = {
    "EXCHANGE_URL": "http://127.0.0.1:9443",
    "EXCHANGE_WS_URL": "ws://127.0.0.1:9443",
    "CHAINDATA_URL": "http://127.0.0.1:9444",
}
# What a real desk can't start with, beside addresses and secrets that are right.
ODD_REAL = [
    ({"DESK_URL": "https://desk.example", "ALLOWED_HOSTS": "other.example"}, "Add 'desk.example' to ALLOWED_HOSTS"),
    ({"DESK_URL": "http://desk.example", "ALLOWED_HOSTS": "desk.example"}, "outside the demo it must start with https"),
    ({"DESK_URL": "https://10.0.0.5", "ALLOWED_HOSTS": "10.0.0.5"}, "passkeys need a host name"),
    ({"ALLOWED_HOSTS": "10.0.0.5"}, "passkeys need a host name"),
    ({"DESK_URL": "https://desk.example/desk", "ALLOWED_HOSTS": "desk.example"}, "without a path"),
    ({"EXCHANGE_URL": "https://api.demo.exchange.example"}, "is for real money and EXCHANGE_URL"),
    ({"EXCHANGE_WS_URL": "wss://testnet.exchange.example"}, "is for real money and EXCHANGE_WS_URL"),
    ({"CHAINDATA_URL": "https://chain-test.example"}, "EXCHANGE_URL ('https://exchange.example') is for real money"),
    ({"CHAINDATA_URL": "http://127.0.0.1:8100"}, "CHAINDATA_URL ('http://127.0.0.1:8100') is for testing"),
    ({"CHAIN_NETWORKS": "test"}, "CHAIN_NETWORKS test is for testing"),
    ({"CHAIN_NETWORKS": "main,regtest"}, "CHAIN_NETWORKS regtest is for testing"),
    ({"EXCHANGE_PLACES": "b=https://b.test wss://b.test"}, "EXCHANGE_PLACES, REST of b ('https://b.test')"),
]
EXPLORED = "BTC=https://a.example/tx/{tx} https://a.example/address/{address}"
ODD_EXPLORERS = {
    "BTC": "EXPLORERS, entry 1: expected CODE=",
    "btc=https://a.example/{tx}": "EXPLORERS, entry 1",
    f"{EXPLORED}, {EXPLORED}": "each code once",
    "BTC=https://a.example/tx": "an https address with {tx} in its path once",
    "BTC=http://a.example/{tx}": "EXPLORERS of BTC is 'http://a.example/{tx}'",
    "BTC=https://{tx}.example/{tx}": "in its path once",
    "BTC=https://{tx}.example/": "in its path once",
    "BTC=https://login@a.example/{tx}": "EXPLORERS of BTC",
    "BTC=https://[a/{tx}": "is not an address",
    "BTC=https://a.example/{tx} https://a.example/{tx}": "with {address} in its path once",
    "BTC=javascript:{tx}": "expected an https address",
}
ELSEWHERE = "b=https://b.example wss://b.example"
ODD_PLACES = {
    "b": "EXCHANGE_PLACES, entry 1: expected NAME=REST-ADDRESS STREAM-ADDRESS",
    "b=https://b.example": "EXCHANGE_PLACES, entry 1",
    f"{ELSEWHERE}, B=https://c.example wss://c.example": "EXCHANGE_PLACES, entry 2",
    f"{ELSEWHERE}, =https://c.example wss://c.example": "EXCHANGE_PLACES, entry 2",
    f"{'b' * 41}=https://b.example wss://b.example": "up to 40 lower-case letters",
    f"{ELSEWHERE}, {ELSEWHERE}": "'b' is listed twice",
    "default=https://b.example wss://b.example": "'default' is the place of EXCHANGE_URL",
    "b=wss://b.example https://b.example": "EXCHANGE_PLACES, REST of b is 'wss://b.example'",
    "b=https://b.example https://b.example": "EXCHANGE_PLACES, streams of b is 'https://b.example'",
    "b=https://login:secret@b.example wss://b.example": "EXCHANGE_PLACES, REST of b contains credentials",
    "b=https://b.example/?key=1 wss://b.example": "without query",
    "b=http://b.example wss://b.example": "only https and wss",
    "b=https://b.example ws://b.example": "only https and wss",
    "b=https://b.example ws://127.0.0.1:8100": "set both or neither",
    "b=https://169.254.169.254 wss://b.example": "REST of b is 'https://169.254.169.254', which is not a",
    "b=https://b.example wss://10.0.0.1": "PRIVATE_HOSTS",
    ",".join(f"b{number}=https://b.example wss://b.example" for number in range(21)): "the limit is 20",
}

ODD_ROLE_NETWORKS = {
    "treasury": "ROLE_NETWORKS, entry 1: expected ROLE=NETWORK",
    "treasury=": "ROLE_NETWORKS, entry 1",
    "treasury=192.0.2.0/24, treasurer=192.0.2.0/24": "ROLE_NETWORKS, entry 2: expected ROLE=NETWORK, each role once",
    "admin=192.0.2.0/24, admin=::1": "ROLE_NETWORKS, entry 2",
    "admin=192.0.2.1/24": "ROLE_NETWORKS of admin has '192.0.2.1/24'; expected addresses and networks",
    "admin=192.0.2.0/24;treasury=::1": "ROLE_NETWORKS of admin has '192.0.2.0/24;treasury=::1'",
}


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"PORT": "eighty"}, "PORT is 'eighty'"),
        ({"PORT": "0"}, "PORT is '0'"),
        ({"PORT": "65536"}, "from 1 to 65535"),
        ({"TRUSTED_PROXIES": "10.0.0.1, *"}, "List the proxies"),
        ({"PORT": "٨٠٨٠"}, "PORT is"),
        ({"PORT": "8100"}, "PORT and SANDBOX_PORT are both 8100"),
        ({"SANDBOX_PORT": "-1"}, "SANDBOX_PORT"),
        ({"DEMO": "perhaps"}, "DEMO is 'perhaps'"),
        ({"EXCHANGE_URL": "exchange.example"}, "EXCHANGE_URL"),
        ({"EXCHANGE_URL": "https://login:secret@exchange.example"}, "contains credentials"),
        ({"EXCHANGE_URL": "https://exchange.example:port"}, "is not an address"),
        ({"EXCHANGE_URL": "https://exchange.example/?key=1"}, "without query"),
        ({"EXCHANGE_URL": "https://exchange.example"}, "set both or neither"),
        (
            {"EXCHANGE_URL": "http://exchange.example", "EXCHANGE_WS_URL": "wss://exchange.example"},
            "only https and wss",
        ),
        (
            {"EXCHANGE_URL": "https://exchange.example", "EXCHANGE_WS_URL": "wss://exchange.example", "DEMO": "1"},
            "published passwords",
        ),
        (
            {"EXCHANGE_URL": "https://exchange.example", "EXCHANGE_WS_URL": "wss://exchange.example"},
            "CHAINDATA_URL is not set",
        ),
        (REAL_ADDRESSES, "SECRET_KEY is not set"),
        *((REAL_ADDRESSES | {"SECRET_KEY": STRONG, "KEY_RING": RING} | odd, says) for odd, says in ODD_REAL),
        # A tunnel may end on this machine: three addresses here are no demo by themselves.
        (TUNNEL, "EXCHANGE_URL is 'http://127.0.0.1:9443'"),
        (TUNNEL | {"PRIVATE_HOSTS": "127.0.0.1"}, "SECRET_KEY is not set"),
        ({"DEMO": "0"}, "EXCHANGE_URL is not set"),
        ({"ALLOWED_HOSTS": "desk.example", "DESK_URL": "http://localhost:8000"}, "Add 'localhost' to ALLOWED_HOSTS"),
        *(({"EXCHANGE_PLACES": value}, says) for value, says in ODD_PLACES.items()),
        *(({"EXPLORERS": value}, says) for value, says in ODD_EXPLORERS.items()),
        ({"EXCHANGE_PLACES": ELSEWHERE}, "EXCHANGE_URL is not set"),
        (REAL_ADDRESSES | {"EXCHANGE_PLACES": ELSEWHERE}, "SECRET_KEY is not set"),
        ({"EXCHANGE_PLACES": ELSEWHERE, "DEMO": "1"}, "not this machine's sandbox"),
        (
            REAL_ADDRESSES | {"EXCHANGE_PLACES": "b=http://127.0.0.1:9 ws://127.0.0.1:9"},
            "EXCHANGE_PLACES, REST of b",
        ),
        ({"CHAINDATA_URL": "ftp://chain.example"}, "CHAINDATA_URL"),
        ({"CHAINDATA_URL": "http://127.0.0.1:6379"}, "CHAINDATA_URL is 'http://127.0.0.1:6379'"),
        (
            REAL_ADDRESSES | {"CHAINDATA_URL": "https://169.254.169.254"},
            "CHAINDATA_URL is 'https://169.254.169.254', which is not a",
        ),
        (REAL_ADDRESSES | {"CHAINDATA_URL": "https://127.0.0.2"}, "PRIVATE_HOSTS"),
        (REAL_ADDRESSES | {"CHAINDATA_URL": "https://0x7f000001"}, "PRIVATE_HOSTS"),
        (REAL_ADDRESSES | {"CHAINDATA_URL": "https://[::ffff:10.0.0.1]"}, "PRIVATE_HOSTS"),
        (REAL_ADDRESSES | {"CHAINDATA_URL": "http://127.0.0.1:6379"}, "CHAINDATA_URL is 'http://127.0.0.1:6379'"),
        (REAL_ADDRESSES | {"CHAINDATA_URL": "https://10.0.0.1", "PRIVATE_HOSTS": "10.0.0.1"}, "SECRET_KEY is not set"),
        ({"DATABASE_URL": "mysql://somewhere/desk"}, "DATABASE_URL names an engine"),
        ({"DATABASE_URL": "nonsense"}, "DATABASE_URL can't be read"),
        ({"DATABASE_URL": "postgres://desk:password@host:port/desk"}, "DATABASE_URL can't be read"),
        ({"REDIS_URL": "localhost:6379"}, "REDIS_URL must start with"),
        ({"SESSION_IDLE_SECONDS": "1e3"}, "SESSION_IDLE_SECONDS"),
        ({"DATA_DIR": "/proc/countersign"}, "DATA_DIR"),
        ({"DATA_DIR": __file__}, "DATA_DIR"),
        ({"WEB_THREADS": "0"}, "WEB_THREADS"),
        ({"LISTEN": "everywhere at once"}, "LISTEN"),
        ({"PASSKEY_ROLES": "treasury,treasurer"}, "PASSKEY_ROLES has 'treasurer'; expected operator, treasury"),
        ({"PASSKEY_ROLES": "treasury", "DESK_URL": "http://127.0.0.1:8000"}, "passkeys need https and a host name"),
        ({"PASSKEY_ROLES": "treasury", "ALLOWED_HOSTS": "desk.example"}, "PASSKEY_ROLES is set and DESK_URL is"),
        *(({"ROLE_NETWORKS": value}, says) for value, says in ODD_ROLE_NETWORKS.items()),
        ({"LOG_LEVEL": "loud"}, "LOG_LEVEL is 'loud'"),
        ({"LOG_FORMAT": "xml"}, "LOG_FORMAT is 'xml'"),
        ({"KEY_RING": "unreadable"}, "KEY_RING, entry 1"),
        ({"KEY_RING": "a:" + "A" * 43 + "=,b:c2hvcnQ="}, "KEY_RING, entry 2"),
        (
            REAL_ADDRESSES | {"SECRET_KEY": STRONG},
            "KEY_RING is not set",
        ),
        ({"LISTEN": "0.0.0.0"}, "DEMO_ANYBODY_MAY_SIGN_IN"),
        ({"LISTEN": "192.0.2.1"}, "published passwords"),
        ({"LISTEN": "::"}, "published passwords"),
    ],
)
def test_an_odd_value_stops_with_one_sentence(tmp_path, values, says):
    complaint = complaint_of(tmp_path, **values)
    assert says in complaint
    assert "\n" not in complaint


def test_networks_are_read_by_role(tmp_path):
    value = "treasury=192.0.2.0/24  2001:db8::/32, admin = 203.0.113.7"
    by_role = "{role: [str(one) for one in networks] for role, networks in settings.ROLE_NETWORKS.items()}"
    read = read_settings(tmp_path, by_role, ROLE_NETWORKS=value)
    assert read == (0, "{'treasury': ['192.0.2.0/24', '2001:db8::/32'], 'admin': ['203.0.113.7/32']}", "")


def test_that_sentence_is_all_that_the_process_says(tmp_path):
    values = {"PORT": "eighty"}
    assert read_settings(tmp_path, **values) == (1, "", complaint_of(tmp_path, **values))


def test_exchanges_are_named_with_both_addresses_and_the_demo_goes_on_while_all_are_this_machine(tmp_path):
    places = "sorted((name, at.url, at.stream_url) for name, at in settings.EXCHANGE_PLACES.items())"
    expression = f"settings.DEMO, {places}"
    value = " second = http://127.0.0.1:8101/  ws://127.0.0.1:8101/ , third=http://localhost:8102 ws://[::1]:8102,"
    code, printed, _ = read_settings(tmp_path, expression, EXCHANGE_PLACES=value, DEMO="1")
    second = ("second", "http://127.0.0.1:8101", "ws://127.0.0.1:8101")
    third = ("third", "http://localhost:8102", "ws://[::1]:8102")
    assert (code, printed) == (0, f"True {[second, third]}")


REAL = REAL_ADDRESSES | {"KEY_RING": RING}


def test_a_desk_for_testing_has_every_system_of_that_kind(tmp_path):
    testing = {
        "EXCHANGE_URL": "https://api.demo.exchange.example",
        "EXCHANGE_WS_URL": "wss://api.demo.exchange.example",
        "CHAINDATA_URL": "https://testnet.chain.example",
        "CHAIN_NETWORKS": "test",
        "ALLOWED_HOSTS": "desk.example",
        "DESK_URL": "https://desk.example:8443/",
    }
    printed = "settings.DEMO, settings.DESK_HOST, settings.DESK_ORIGIN, settings.CSRF_TRUSTED_ORIGINS"
    own = "https://desk.example:8443"
    assert read_settings(tmp_path, printed, **testing, KEY_RING=RING, SECRET_KEY=STRONG)[:2] == (
        0,
        f"False desk.example {own} {[own]}",
    )


@pytest.mark.parametrize(
    ("values", "demo"),
    [
        ({}, "1"),
        ({"EXCHANGE_URL": "http://127.0.0.1:8100", "EXCHANGE_WS_URL": "ws://127.0.0.1:8100"}, "1"),
        (TUNNEL, None),
        (REAL_ADDRESSES, None),
        ({"EXCHANGE_PLACES": "b=http://127.0.0.1:8101 ws://127.0.0.1:8101"}, None),
        ({"DEMO": "0"}, "0"),
    ],
)
def test_up_asks_for_the_demo_only_without_addresses_of_other_systems(values, demo):
    with mock.patch.dict(os.environ, values, clear=True):
        addresses.ask_for_demo(sandbox_port=8100)
        assert os.environ.get("DEMO") == demo


@pytest.mark.parametrize(
    ("secret", "says"),
    [
        ("x" * 60, "repeats itself"),
        ("abcdefgh" * 10, "repeats itself"),
        ("0123456789" * 6, "repeats itself"),
        ("short", "needs at least 50"),
        (STRONG[:49], "needs at least 50"),
        ("django-insecure-" + STRONG, "django"),
        ("changeme-" + STRONG, "changeme"),
        ("Change_Me " + STRONG, "changeme"),
        ("my-secret-key-" + STRONG, "secretkey"),
        ("ab" * 40, "repeats itself"),
    ],
)
def test_a_secret_that_can_be_guessed_is_refused_and_not_repeated(tmp_path, secret, says):
    complaint = complaint_of(tmp_path, **REAL, SECRET_KEY=secret)
    assert "SECRET_KEY is too weak" in complaint
    assert says in complaint
    assert secret not in complaint


@pytest.mark.parametrize("secret", [STRONG, "0f1e2d3c4b5a69788796a5b4c3d2e1f00123456789abcdeffedcba9876543210"])
def test_a_random_secret_is_taken(tmp_path, secret):
    assert read_settings(tmp_path, **REAL, SECRET_KEY=secret)[:2] == (0, "read")


def test_random_secrets_of_every_usual_form_are_taken():
    for _ in range(200):
        for made in (secrets.token_urlsafe(48), secrets.token_hex(32), secrets.token_urlsafe(60)):
            secret_strength.require_strong("SECRET_KEY", made)


def test_the_demo_listens_to_a_network_only_when_the_risk_is_named(tmp_path):
    named = {"LISTEN": "0.0.0.0", "DEMO_ANYBODY_MAY_SIGN_IN": "1"}
    assert read_settings(tmp_path, "settings.LISTEN", **named)[:2] == (0, "0.0.0.0")
    assert read_settings(tmp_path, **REAL, SECRET_KEY=STRONG, LISTEN="0.0.0.0")[:2] == (0, "read")


def test_a_secret_is_read_from_the_file_that_is_named_for_it(tmp_path):
    files = {"SECRET_KEY": STRONG, "KEY_RING": f"{RING}\n", "DATABASE_URL": "postgres://desk:pw@db/desk"}
    files |= {"REDIS_URL": "rediss://broker.example/0", "EMAIL_URL": "smtps://desk:pw@mail.example:465"}
    for name, text in files.items():
        (tmp_path / name).write_text(f"{text}\n")
    named = {f"{name}_FILE": str(tmp_path / name) for name in files}
    printed = "settings.KEY_RING, settings.DATABASES['default']['HOST'], settings.REDIS_URL, settings.EMAIL_HOST"
    code, read, complaint = read_settings(tmp_path, printed, **REAL_ADDRESSES, **named)
    assert (code, read, complaint) == (0, f"{RING} db rediss://broker.example/0 mail.example", "")
    assert "SECRET_KEY and SECRET_KEY_FILE are both set" in complaint_of(
        tmp_path, **REAL_ADDRESSES, **named, SECRET_KEY=STRONG
    )
    named["KEY_RING_FILE"] = str(tmp_path / "nothing")
    assert "it can't be read (FileNotFoundError)" in complaint_of(tmp_path, **REAL_ADDRESSES, **named)


def test_the_desk_waits_for_its_disk(tmp_path):
    """Unlike the tests: what it committed outlives a power cut."""
    code, printed, _ = read_settings(tmp_path, "settings.DATABASES['default']['OPTIONS']['init_command']")
    assert code == 0
    assert "synchronous=FULL" in printed


def test_a_password_in_a_database_address_is_not_repeated(tmp_path):
    _, _, complaint = read_settings(tmp_path, DATABASE_URL="postgres://desk:hunter2secret@host:port/desk")
    assert "hunter2secret" not in complaint


def test_no_part_of_a_key_is_repeated(tmp_path):
    _, _, complaint = read_settings(tmp_path, KEY_RING="first:c2VjcmV0IGtleSB0aGF0IGlzIHNob3J0")
    assert "c2VjcmV0" not in complaint


def test_the_demo_makes_its_secret_once_and_keeps_it_to_itself(tmp_path):
    first = read_settings(tmp_path, "settings.SECRET_KEY")
    second = read_settings(tmp_path, "settings.SECRET_KEY")
    assert first == second
    assert len(first[1]) > 50
    assert (tmp_path / "var" / "secret-key").stat().st_mode & 0o777 == 0o600


def test_a_socket_stays_in_a_short_data_folder(tmp_path):
    assert environment.private_socket(Path("/srv/desk"), "redis.sock") == Path("/srv/desk/redis.sock")


def test_a_long_data_folder_gets_a_short_private_socket(tmp_path, monkeypatch):
    monkeypatch.setattr(environment.tempfile, "gettempdir", lambda: str(tmp_path))
    long_folder = Path("/srv") / ("x" * 120)
    chosen = environment.private_socket(long_folder, "redis.sock")
    assert chosen == environment.private_socket(long_folder, "redis.sock")
    assert chosen.parent.parent == tmp_path
    assert chosen.parent.stat().st_mode & 0o777 == 0o700
    assert chosen.parent != environment.private_socket(Path("/srv") / ("y" * 120), "redis.sock").parent


def test_a_prepared_trap_in_the_short_place_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(environment.tempfile, "gettempdir", lambda: str(tmp_path))
    long_folder = Path("/srv") / ("x" * 120)
    environment.private_socket(long_folder, "redis.sock").parent.chmod(0o777)
    with pytest.raises(environment.OddSetting, match="not private to this user"):
        environment.private_socket(long_folder, "redis.sock")
