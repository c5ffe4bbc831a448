"""Reading settings from the environment: an odd value stops the start with one clear sentence.

Used by the settings and by the supervisor, so it needs nothing but the standard library.
"""

import base64
import contextlib
import hashlib
import ipaddress
import os
import re
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from wire import reach

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_LONGEST_SOCKET_PATH = 100
_KEY_BYTES = 32
_PLACE_NAME = re.compile("[a-z0-9][a-z0-9-]{0,39}")
_REST_AND_STREAM = 2
_MOST_PLACES = 20
# Not mended: who finds it open to others says that its keys have to be changed, not its mode alone (`desk.sealing`).
_WATCHED = {"key-ring"}


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


def is_set(name: str) -> bool:
    """Whether the setting has a value, whatever it is; blanks are none."""
    return bool(os.environ.get(name, "").strip())


def secret(name: str) -> str:
    """A secret from the variable, or from the file that NAME_FILE names; empty when neither is set.

    What is wrong is said without repeating the secret.
    """
    value, path = text(name, ""), text(f"{name}_FILE", "")
    if not path:
        return value
    if value:
        raise OddSetting(f"{name} and {name}_FILE are both set; keep one of them.")
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise OddSetting(f"{name}_FILE is {path!r}; it can't be read ({type(error).__name__}).") from None


def own_name(allowed: list[str]) -> str:
    """A host name to which a desk with these ALLOWED_HOSTS answers; `.example.com` takes example.com as well."""
    return next((name.lstrip(".") for name in allowed if name != "*"), "localhost")


def words(name: str, default: str) -> list[str]:
    """A list separated by commas; blanks around its items and empty items count for nothing."""
    return [word.strip() for word in (os.environ.get(name, "").strip() or default).split(",") if word.strip()]


def refuse_everybody(name: str, proxies: list[str]) -> None:
    """Raise OddSetting where every peer would be believed as a proxy: any could then name any address as its own."""
    if any(proxy == "*" or proxy.endswith("/0") for proxy in proxies):
        raise OddSetting(
            f"{name} is {','.join(proxies)!r}: any client could then forge its address. List the proxies' addresses."
        )


@dataclass(frozen=True, slots=True)
class Explorer:
    """A public explorer of a coin: its addresses, with {tx} or {address} in place of what is looked at; none is ""."""

    transaction: str
    address: str


_EXPLORED = re.compile(r"[A-Z0-9]{1,20}")


def explorers(name: str) -> dict[str, Explorer]:
    """Public explorers by currency: CODE=https://.../{tx} https://.../{address}, separated by commas."""
    explorers: dict[str, Explorer] = {}
    for number, word in enumerate(words(name, ""), 1):
        code, _, places = word.partition("=")
        links, code = places.split(), code.strip()
        if not _EXPLORED.fullmatch(code) or len(links) not in {1, 2} or code in explorers:
            raise OddSetting(
                f"{name}, entry {number}: expected CODE=https://HOST/{{tx}} https://HOST/{{address}}, each code once."
            )
        for link, mark in zip(links, ("{tx}", "{address}"), strict=False):
            _explored(f"{name} of {code}", link, mark)
        explorers[code] = Explorer(links[0], links[1] if len(links) == 2 else "")
    return explorers


def _explored(name: str, link: str, mark: str) -> None:
    """One address of an explorer: by https, with the mark once and not in its host."""
    try:
        parts = urlsplit(link.replace(mark, ""))
    except ValueError:
        raise OddSetting(f"{name} is {link!r}; that is not an address.") from None
    host = link.partition("//")[2].partition("/")[0]
    if link.count(mark) != 1 or mark in host or parts.scheme != "https" or not parts.hostname or "@" in host:
        raise OddSetting(f"{name} is {link!r}; expected an https address with {mark} in its path once.")


def networks(name: str, default: str) -> list[Network]:
    """Addresses and networks, separated by commas: 127.0.0.1, 10.0.0.0/8, ::1."""
    return [_network(name, word) for word in words(name, default)]


def _network(name: str, word: str) -> Network:
    try:
        return ipaddress.ip_network(word)
    except ValueError:
        raise OddSetting(f"{name} has {word!r}; expected addresses and networks like 10.1.2.0/24.") from None


def roles(name: str, *, options: Sequence[str]) -> frozenset[str]:
    """Names of roles, separated by commas, each one of `options`."""
    named = words(name, "")
    if word := next((each for each in named if each not in options), ""):
        raise OddSetting(f"{name} has {word!r}; expected {', '.join(options[:-1])} or {options[-1]}.")
    return frozenset(named)


def role_networks(name: str, *, options: Sequence[str]) -> dict[str, list[Network]]:
    """Addresses and networks by role: "ROLE=NETWORK NETWORK", separated by commas, each of `options` at most once."""
    by_role: dict[str, list[Network]] = {}
    for number, entry in enumerate(words(name, ""), 1):
        role, _, places = (part.strip() for part in entry.partition("="))
        if role not in options or role in by_role or not places:
            raise OddSetting(f"{name}, entry {number}: expected ROLE=NETWORK, each role once ({', '.join(options)}).")
        by_role[role] = [_network(f"{name} of {role}", word) for word in places.split()]
    return by_role


def flag(name: str, *, default: bool) -> bool:
    """A yes-or-no setting: 1, true, yes, on against 0, false, no, off."""
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise OddSetting(f"{name} is {value!r}; expected 1 or 0.")


def choice(name: str, default: str, *, options: tuple[str, ...]) -> str:
    """One of `options`, in whatever case it was written."""
    value = os.environ.get(name, "").strip() or default
    chosen = next((option for option in options if option.lower() == value.lower()), None)
    if chosen is None:
        raise OddSetting(f"{name} is {value!r}; expected {', '.join(options[:-1])} or {options[-1]}.")
    return chosen


def integer(name: str, default: int, *, lowest: int, highest: int) -> int:
    """A whole number between `lowest` and `highest`, both included."""
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    if not (value.isascii() and value.isdigit() and lowest <= int(value[:20]) <= highest):
        raise OddSetting(f"{name} is {value!r}; expected a whole number from {lowest} to {highest}.")
    return int(value)


def url(name: str, default: str, *, schemes: tuple[str, ...]) -> str:
    """An absolute address without credentials, query or fragment, and without a slash at its end."""
    return _address(name, os.environ.get(name, "").strip() or default, schemes=schemes)


@dataclass(frozen=True, slots=True)
class ExchangePlace:
    """Where one exchange is: its REST address and the address of its streams."""

    url: str
    stream_url: str


def exchange_places(name: str, *, taken: str) -> dict[str, ExchangePlace]:
    """Further exchanges by their names: "NAME=REST-ADDRESS STREAM-ADDRESS", separated by commas.

    A name has up to 40 small letters, digits and hyphens; `taken` is the one that is there already.
    """
    places: dict[str, ExchangePlace] = {}
    for number, entry in enumerate(words(name, ""), 1):
        place, _, addresses = entry.partition("=")
        place, pair = place.strip(), addresses.split()
        if not _PLACE_NAME.fullmatch(place) or len(pair) != _REST_AND_STREAM:
            raise OddSetting(
                f"{name}, entry {number}: expected NAME=REST-ADDRESS STREAM-ADDRESS; a name has up to 40 lower-case "
                "letters, digits and hyphens."
            )
        if place == taken or place in places:
            why = "is the place of EXCHANGE_URL and EXCHANGE_WS_URL" if place == taken else "is listed twice"
            raise OddSetting(f"{name}, entry {number}: {place!r} {why}; give it another name.")
        rest, stream = pair
        places[place] = ExchangePlace(
            _address(f"{name}, REST of {place}", rest, schemes=("https", "http")),
            _address(f"{name}, streams of {place}", stream, schemes=("wss", "ws")),
        )
    if len(places) > _MOST_PLACES:
        raise OddSetting(f"{name} names {len(places)} exchanges; the limit is {_MOST_PLACES}.")
    return places


def _address(name: str, value: str, *, schemes: tuple[str, ...]) -> str:
    try:
        parts = urlsplit(value)
        port_reads = parts.port is None or parts.port > 0
    except ValueError:
        raise OddSetting(f"{name} is {value!r}; that is not an address.") from None
    if parts.scheme not in schemes or not parts.hostname or not port_reads:
        raise OddSetting(f"{name} is {value!r}; expected an address that starts with {' or '.join(schemes)}.")
    if parts.username or parts.password:
        raise OddSetting(f"{name} contains credentials. Keys are stored encrypted in the desk, never in an address.")
    if parts.query or parts.fragment:
        raise OddSetting(f"{name} is {value!r}; expected an address without query or fragment.")
    return value.rstrip("/")


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed over; without a host nowhere."""

    host: str = ""
    port: int = 0
    user: str = ""
    password: str = field(default="", repr=False)
    is_tls: bool = False
    starts_tls: bool = False


def mail_server(name: str) -> MailServer:
    """smtps://user:password@host:465, or smtp://user:password@host:587, which starts TLS; nothing when not set.

    Without TLS only this machine is reached. What is wrong is said without repeating the address.
    """
    value = secret(name)
    if not value:
        return MailServer()
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise OddSetting(f"{name} is not a valid address.") from None
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname or port == 0 or parts.path.strip("/"):
        raise OddSetting(f"{name} must be smtps://user:password@host:465, or smtp:// with port 587 for STARTTLS.")
    is_tls = parts.scheme == "smtps"
    return MailServer(
        host=parts.hostname,
        port=port or (465 if is_tls else 587),
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        is_tls=is_tls,
        starts_tls=not is_tls and not reach.is_loopback(parts.hostname),
    )


def listening_address(name: str, default: str) -> str:
    """A numeric address of this machine: 127.0.0.1 for itself alone, 0.0.0.0 for a whole network."""
    value = os.environ.get(name, "").strip() or default
    try:
        return str(ipaddress.ip_address(value))
    except ValueError:
        raise OddSetting(f"{name} is {value!r}; expected a numeric address like 127.0.0.1 or 0.0.0.0.") from None


def key_ring(name: str) -> str:
    """Key-encryption keys, newest first: "id:base64 of 32 bytes" separated by commas; empty when not set.

    What is wrong is said without repeating any part of a key.
    """
    value = ",".join(line.strip().strip(",") for line in secret(name).splitlines() if line.strip())
    for place, entry in enumerate(value.split(",") if value else [], 1):
        key_id, _, key = entry.strip().partition(":")
        try:
            size = len(base64.b64decode(key, validate=True))
        except ValueError:
            size = 0
        if not key_id or size != _KEY_BYTES:
            raise OddSetting(f"{name}, entry {place}: expected an id, a colon and the base64 text of 32 bytes.")
    return value


def folder(name: str, default: Path) -> Path:
    """A folder that can be written to and that nobody else can look into; it is made when it is not there.

    From here on this process and its children make files that are theirs alone. What lies in the folder from before is
    mended, without following links.
    """
    value = os.environ.get(name, "").strip()
    path = Path(value).expanduser().resolve() if value else default
    os.umask(0o077)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OddSetting(f"{name} is {str(path)!r}; it can't be created: {error.strerror}.") from None
    if not os.access(path, os.W_OK):
        raise OddSetting(f"{name} is {str(path)!r}; it can't be written to.")
    _keep_private(name, path)
    return path


def _keep_private(name: str, path: Path) -> None:
    """Take the rights of others from the folder first, so that nothing in it can be exchanged meanwhile, then below."""
    status = path.stat()
    if status.st_mode & stat.S_ISVTX or path == Path(path.anchor):
        raise OddSetting(f"{name} is {str(path)!r}, a folder shared by all users; give the desk its own folder.")
    _close_to_others(name, path, status, path)
    for place, folders, files, descriptor in os.fwalk(path):
        for entry in {*folders, *files} - _WATCHED:
            with contextlib.suppress(FileNotFoundError):
                status = os.stat(entry, dir_fd=descriptor, follow_symlinks=False)
                if not stat.S_ISLNK(status.st_mode):
                    _close_to_others(name, entry, status, Path(place, entry), descriptor)


def _close_to_others(
    name: str, entry: str | Path, status: os.stat_result, folder: Path, inside: int | None = None
) -> None:
    if not status.st_mode & 0o077 and status.st_uid == os.geteuid():
        return
    if status.st_uid != os.geteuid() and (status.st_mode & 0o077 or inside is None):
        raise OddSetting(
            f"{name} can't be kept private: {str(folder)!r} belongs to another user, who could read the desk's data. "
            "Change its owner to the user that runs the desk (chown), or use another folder."
        )
    try:
        os.chmod(entry, stat.S_IMODE(status.st_mode) & 0o700, dir_fd=inside)
    except PermissionError as error:
        raise OddSetting(f"{name} can't be kept private: {str(folder)!r} ({error.strerror}).") from None


def private_socket(data_dir: Path, name: str) -> Path:
    """Where the Unix socket `name` of this data folder lies: inside it, or in a private one when its path is long.

    The kernel takes 107 bytes for a socket's path. The replacement follows from the data folder alone, so that every
    process of the house finds the same one.
    """
    path = data_dir / name
    if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
        return path
    mark = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]
    place = Path(tempfile.gettempdir()) / f"countersign-{os.getuid()}-{mark}"
    place.mkdir(mode=0o700, exist_ok=True)
    status = place.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) != 0o700:
        raise OddSetting(
            f"The path of DATA_DIR is too long for sockets, and the folder used instead, {str(place)!r}, is not "
            "private to this user."
        )
    return place / name


def is_loopback_address(address: str) -> bool:
    """Whether only this machine reaches a program that listens on this numeric address."""
    return ipaddress.ip_address(address).is_loopback


def is_loopback(address: str) -> bool:
    """Whether the address names this machine and can reach nobody else."""
    return urlsplit(address).hostname in {"127.0.0.1", "localhost", "::1"}


def refuse_private(name: str, address: str, *, named: list[str], own_ports: set[int] | None, named_in: str) -> None:
    """Stop when an outside address is written as one that may not be reached; names are judged at each connection.

    This machine is reached for the sandbox alone, which is at one of `own_ports`, or at any of them (None: the demo).
    """
    parts = urlsplit(address)
    host = parts.hostname or ""
    if is_loopback(address):
        refused = own_ports is not None and parts.port not in own_ports and host not in named
    else:
        number = reach.numbered(host)
        refused = bool(number) and not reach.Host(host, named).may_lie_at(number)
    if refused:
        raise OddSetting(
            f"{name} is {address!r}, which is not a public address: the exchange's keys would be sent to a private "
            f"network. If this is intended, list the host in {named_in}."
        )
