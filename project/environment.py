"""Reading settings from the environment: an odd value stops the start with one clear sentence.

Used by the settings and by the supervisor, so it imports nothing but the standard library.
"""

import os
from pathlib import Path
from urllib.parse import urlsplit


class OddSetting(SystemExit):
    """A setting that cannot be used: its one sentence goes to standard error and the process ends with status 1."""


def text(name: str, default: str | None = None) -> str:
    """The setting `name`, or `default`; without either the start stops."""
    value = os.environ.get(name, "").strip()
    if value:
        return value
    if default is None:
        raise OddSetting(f"{name} is not set, and there is no safe default for it.")
    return default


def flag(name: str, *, default: bool) -> bool:
    """A yes-or-no setting: 1, true, yes, on against 0, false, no, off."""
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise OddSetting(f"{name} is {value!r}; it takes 1 or 0.")


def integer(name: str, default: int, *, lowest: int, highest: int) -> int:
    """A whole number between `lowest` and `highest`, both included."""
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    try:
        number = int(value)
    except ValueError:
        number = None
    if number is None or not lowest <= number <= highest:
        raise OddSetting(f"{name} is {value!r}; it takes a whole number from {lowest} to {highest}.")
    return number


def url(name: str, default: str, *, schemes: tuple[str, ...]) -> str:
    """An absolute address without credentials, query or fragment, and without a slash at its end."""
    value = os.environ.get(name, "").strip() or default
    try:
        parts = urlsplit(value)
        port_reads = parts.port is None or parts.port > 0
    except ValueError:
        raise OddSetting(f"{name} is {value!r}; that is not an address.") from None
    if parts.scheme not in schemes or not parts.hostname or not port_reads:
        raise OddSetting(f"{name} is {value!r}; it takes an address that starts with {' or '.join(schemes)}.")
    if parts.username or parts.password:
        raise OddSetting(f"{name} carries credentials; keys belong in the desk, sealed, never in an address.")
    if parts.query or parts.fragment:
        raise OddSetting(f"{name} is {value!r}; it takes an address without query or fragment.")
    return value.rstrip("/")


def folder(name: str, default: Path) -> Path:
    """A folder that can be written to; it is made when it is not there."""
    value = os.environ.get(name, "").strip()
    path = Path(value).expanduser().resolve() if value else default
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OddSetting(f"{name} is {str(path)!r}; it can't be made: {error.strerror}.") from None
    if not os.access(path, os.W_OK):
        raise OddSetting(f"{name} is {str(path)!r}; it can't be written to.")
    return path


def is_loopback(address: str) -> bool:
    """Whether the address names this machine and can reach nobody else."""
    return urlsplit(address).hostname in {"127.0.0.1", "localhost", "::1"}
