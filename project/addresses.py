"""Whether the addresses of the settings belong together: judged before anything starts, by what is written alone.

Used by the settings and by the supervisor, so it needs nothing but the standard library.
"""

import ipaddress
import os
import re
from collections.abc import Collection, Iterable, Mapping
from urllib.parse import urlsplit

from project import environment
from project.environment import OddSetting

OUTSIDE = ("EXCHANGE_URL", "EXCHANGE_WS_URL", "CHAINDATA_URL")
_REAL, _TEST = "real", "test"
_TEST_LABELS = {"demo", "sandbox", "staging", "test", "testnet"}
_USUAL_PORTS = {"http": 80, "https": 443}


def are_named() -> bool:
    """Whether any address of an outside system is in the environment, whatever it says."""
    return any(environment.is_set(name) for name in (*OUTSIDE, "EXCHANGE_PLACES"))


def ask_for_demo(*, sandbox_port: int) -> None:
    """What `manage.py up` does first: without addresses of real systems it asks for the demo by name, for its children.

    An address on this machine that is not this house's sandbox may be a tunnel to a real system: no demo.
    """
    addresses = [os.environ.get(name, "").strip() for name in OUTSIDE]
    own = all(environment.is_loopback(each) and urlsplit(each).port == sandbox_port for each in addresses if each)
    if own and not environment.is_set("EXCHANGE_PLACES") and not environment.is_set("DEMO"):
        os.environ["DEMO"] = "1"


def require_all() -> None:
    """Stop a start outside the demo where an address is left to its default, the sandbox."""
    missing = [name for name in OUTSIDE if not environment.is_set(name)]
    if missing:
        raise OddSetting(
            f"{missing[0]} is not set. Outside the demo EXCHANGE_URL, EXCHANGE_WS_URL and CHAINDATA_URL are set "
            "together; for the demo, which has published passwords, set DEMO=1."
        )


def require_one_world(
    outside: Mapping[str, str], *, networks: Iterable[str], named: Collection[str], sandbox_port: int
) -> None:
    """Stop a start where one system is for real money and another for testing, as far as the settings show.

    A host in a private network, or on this machine, shows nothing; this house's sandbox is for testing.
    """
    kinds = {name: _kind(address, named=named, sandbox_port=sandbox_port) for name, address in outside.items()}
    for network in networks:
        kinds[f"CHAIN_NETWORKS {network}"] = _REAL if network == "main" else _TEST
    real = next((name for name, kind in kinds.items() if kind == _REAL), None)
    test = next((name for name, kind in kinds.items() if kind == _TEST), None)
    if real and test:
        raise OddSetting(
            f"{_written(real, outside)} is for real money and {_written(test, outside)} is for testing: coins sent "
            "to the wrong network are lost. Set exchange, streams, chain and CHAIN_NETWORKS all to live or all to "
            "test systems."
        )


def _kind(address: str, *, named: Collection[str], sandbox_port: int) -> str:
    parts = urlsplit(address)
    host = parts.hostname or ""
    if environment.is_loopback(address):
        return _TEST if parts.port == sandbox_port and host not in named else ""
    if host in named:
        return ""
    return _TEST if _TEST_LABELS & set(re.split(r"[.-]", host)) else _REAL


def _written(name: str, outside: Mapping[str, str]) -> str:
    return f"{name} ({outside[name]!r})" if name in outside else name


# The desk's own address -----------------------------------------------------------------------------------------------


def origin_of(address: str) -> str:
    """Scheme, host and port of an address as browsers write an origin: without the usual port."""
    parts = urlsplit(address)
    host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname
    port = "" if parts.port in {None, _USUAL_PORTS.get(parts.scheme)} else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def own_default(allowed: list[str], *, demo: bool, port: int) -> str:
    """The desk's own address where DESK_URL is not set, by the first of ALLOWED_HOSTS that is a whole name."""
    hosts = [host.lstrip(".") for host in allowed if "*" not in host] or ["localhost"]
    if not demo:
        return f"https://{hosts[0]}"
    return f"http://{'localhost' if 'localhost' in hosts else hosts[0]}:{port}"


def require_own(address: str, *, allowed: list[str], demo: bool) -> None:
    """Stop a start at an address of its own at which nobody could sign in or use a passkey."""
    from django.http.request import validate_host

    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.path.strip("/"):
        raise OddSetting(f"DESK_URL is {address!r}; the desk needs its own host name, without a path.")
    if not validate_host(f"[{host}]" if ":" in host else host, allowed):
        raise OddSetting(
            f"DESK_URL is {address!r} and ALLOWED_HOSTS is {','.join(allowed)!r}: the desk would reject every request "
            f"to its own address. Add {host!r} to ALLOWED_HOSTS."
        )
    if demo:
        return
    if parts.scheme != "https" and host != "localhost":
        raise OddSetting(
            f"DESK_URL is {address!r}; outside the demo it must start with https, because passwords are sent over it."
        )
    if is_number(host):
        raise OddSetting(f"DESK_URL is {address!r}; passkeys need a host name, not an IP address.")


def require_passkeys(address: str, *, by: str) -> None:
    """Stop a start with the setting `by` where the desk's own address can't carry passkeys."""
    parts = urlsplit(address)
    if is_number(parts.hostname or "") or (parts.scheme != "https" and parts.hostname != "localhost"):
        raise OddSetting(
            f"{by} is set and DESK_URL is {address!r}: passkeys need https and a host name, or localhost. Without them "
            "nobody with these roles could use the desk."
        )


def is_number(host: str) -> bool:
    """Whether a host is a numeric address and no name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def require_directory(issuer: str, *, client: str, secret: str, demo: bool, passwords: bool) -> None:
    """Raise OddSetting where the company's directory is set up in part, or where a lost passkey would lock out."""
    parts = {"OIDC_ISSUER": issuer, "OIDC_CLIENT_ID": client, "OIDC_CLIENT_SECRET": secret}
    absent = [name for name, value in parts.items() if not value]
    if 0 < len(absent) < len(parts):
        raise OddSetting(f"{' and '.join(absent)} must be set as well: the company's sign-in needs all three.")
    place = urlsplit(issuer)
    is_here = demo and place.scheme == "http" and place.hostname in {"localhost", "127.0.0.1"}
    is_plain = not (place.query or place.fragment or place.username or place.password)
    if issuer and not ((place.scheme == "https" or is_here) and place.hostname and is_plain):
        raise OddSetting("OIDC_ISSUER must be an https:// address without credentials, query and fragment.")
    if not issuer and not passwords:
        raise OddSetting("PASSWORD_SIGN_IN is off without OIDC_ISSUER: a lost passkey would lock its owner out.")
