"""Outside addresses: what is not public is refused before anything is connected, whatever leads to it."""

import socket
import ssl
from collections.abc import Iterator
from decimal import Decimal

import pytest

from tests.wire.scripted import Connection, ScriptedServer, server_context
from wire.errors import Unreachable
from wire.operation import Kind, Operation, Param, Place, bind
from wire.params import BadArgument
from wire.reach import AddressRefused, Host, connect, is_public
from wire.transport import Transport

READ = Operation("ask", "GET", "/api/2/ask")
ACT = Operation("make", "POST", "/api/2/make")
BY_ADDRESS = Operation(
    "look", "GET", "/v2/address/{address}", (Param("address", Kind.TEXT, Place.PATH, required=True),), repeatable=True
)
METADATA = ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192")

# By number, in every notation that some library takes for one.
NUMBERS = [
    "127.0.0.2",
    "127.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "0",
    "0.0.0.0",
    "10.0.0.1",
    "10.255.255.255",
    "0x0a000001",
    "012.0.0.1",
    "172.16.0.1",
    "172.31.255.254",
    "192.168.0.1",
    "192.168.255.255",
    "3232235521",
    "100.64.0.1",
    "100.127.255.254",
    "169.254.0.1",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "192.88.99.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::169.254.169.254]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::]",
    "[2001:0:1::1]",
    "[2001:db8::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fdff:ffff::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[100::1]",
    "[3fff::1]",
]
# Addresses that a name may lead to, now or the next time that it is asked.
FOUND = ["127.0.0.1", "::1", "10.1.2.3", "192.168.1.1", "172.20.0.1", "fe80::1", "::ffff:192.168.1.1", *METADATA]


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Where this process connects to from now on, the resolver's own sockets left out."""
    tried: list[object] = []
    real = socket.socket.connect

    def noting(sock: socket.socket, address: object) -> None:
        tried.append(address)
        real(sock, address)

    monkeypatch.setattr(socket.socket, "connect", noting)
    return tried


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """The resolver of an attacker: each time it is asked for a name it gives the next answer, the last one for ever."""
    resolved: list[str] = []
    real = socket.getaddrinfo

    def answer(host: str, port: object, *arguments: object, **options: object) -> object:
        if not str(host).endswith(".test") or options.get("flags") == socket.AI_NUMERICHOST:
            return real(host, port, *arguments, **options)
        found = answers[min(len(resolved), len(answers) - 1)]
        resolved.append(host)
        return [
            (socket.AF_INET6 if ":" in each else socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port))
            for each in found
        ]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return resolved


def transport(address: str, **changes: object) -> Transport:
    return Transport(base_url=address, deadline_s=Decimal("1.5"), **changes)


@pytest.fixture
def answering() -> Iterator[ScriptedServer]:
    def script(connection: Connection) -> None:
        connection.read_request()
        connection.answer(b"{}")

    with ScriptedServer(script) as server:
        yield server


def test_there_are_sixty_bad_numbers() -> None:
    assert len(set(NUMBERS)) >= 60


@pytest.mark.parametrize("host", NUMBERS)
def test_a_number_that_is_not_public_is_never_connected_to(host: str, connected: list[object]) -> None:
    with transport_closed(f"https://{host}:8443") as line, pytest.raises(Unreachable, match="no connection"):
        line.read(bind(READ, {}))
    with transport_closed(f"https://{host}:8443") as line, pytest.raises(Unreachable, match="no connection"):
        line.send(bind(ACT, {}))
    with pytest.raises(OSError):
        connect(Host(host.strip("[]")), 8443, seconds=1)
    assert connected == []


class transport_closed:  # noqa: N801
    """A transport for the length of a block."""

    def __init__(self, address: str, **changes: object) -> None:
        self._transport = transport(address, **changes)

    def __enter__(self) -> Transport:
        return self._transport

    def __exit__(self, *_: object) -> None:
        self._transport.close()


@pytest.mark.parametrize("found", FOUND)
def test_a_name_that_leads_inside_is_never_connected_to(
    found: str, connected: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, [found])
    with transport_closed("https://exchange.test") as line, pytest.raises(Unreachable, match="PrivateAddress"):
        line.send(bind(ACT, {}))
    with pytest.raises(AddressRefused):
        connect(Host("exchange.test"), 443, seconds=1)
    assert connected == []


def test_one_inner_address_among_public_ones_is_enough(
    connected: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, ["93.184.216.34", "169.254.169.254"])
    with transport_closed("https://exchange.test") as line, pytest.raises(Unreachable, match="PrivateAddress"):
        line.read(bind(READ, {}))
    assert connected == []


def test_the_address_that_was_judged_is_the_one_that_is_connected_to(
    answering: ScriptedServer, connected: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rebinding: public when it is asked for the first time, inside at the second. There is no second time."""
    resolved = resolving(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])
    plain = connect(Host("exchange.test", {"exchange.test"}), answering.port, seconds=2)
    plain.close()
    assert resolved == ["exchange.test"]
    assert connected == [("127.0.0.1", answering.port)]


def test_a_name_bound_anew_is_judged_anew(connected: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["93.184.216.34"], ["169.254.169.254"])
    host = Host("exchange.test")
    assert host.may_lie_at("93.184.216.34")
    socket.getaddrinfo("exchange.test", 443)
    with pytest.raises(AddressRefused):
        connect(host, 443, seconds=1)
    assert connected == []


@pytest.mark.parametrize("inside", ["127.0.0.1", "169.254.169.254"])
def test_a_service_whose_name_is_bound_anew_between_two_calls_is_never_reached_inside(
    inside: str, connected: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A public address is tried at each connection, and once the name leads inside nothing is connected to."""

    def nobody_there(_: object, address: object) -> None:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", nobody_there)
    resolved = resolving(monkeypatch, ["93.184.216.34"], [inside])
    with transport_closed("https://exchange.test") as line:
        with pytest.raises(Unreachable, match="NewConnectionError"):
            line.send(bind(ACT, {}))
        assert (resolved, connected) == (["exchange.test"], [("93.184.216.34", 443)]), "asked once, connected to that"
        for call, operation in ((line.send, ACT), (line.read, READ)):
            with pytest.raises(Unreachable, match="PrivateAddress"):
                call(bind(operation, {}))
    assert connected == [("93.184.216.34", 443)]


def test_tls_asks_for_the_certificate_of_the_name_and_not_of_the_address(
    certificate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address is pinned, the trust is not: a certificate for 127.0.0.1 proves nothing about exchange.test."""
    resolving(monkeypatch, ["127.0.0.1"])
    asked_for: list[str] = []
    tls = server_context(certificate)
    tls.sni_callback = lambda _sock, name, _context: asked_for.append(name)

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.answer(b"{}")

    with ScriptedServer(script, tls=tls) as server:
        address = f"https://exchange.test:{server.port}"
        named = {"ca_file": certificate, "private_hosts": ["exchange.test"]}
        with transport_closed(address, **named) as line, pytest.raises(Unreachable):
            line.read(bind(READ, {}))
        context = ssl.create_default_context(cafile=certificate)
        with pytest.raises(ssl.SSLCertVerificationError):
            connect(Host("exchange.test", {"exchange.test"}), server.port, seconds=2, tls=context)
        assert set(asked_for) == {"exchange.test"}
        assert server.seen == []


def test_a_named_host_may_be_private_and_still_no_link_and_no_cloud() -> None:
    host = Host("exchange.test", {"exchange.test"})
    assert all(host.may_lie_at(address) for address in ("10.1.2.3", "127.0.0.1", "fd12::1", "93.184.216.34"))
    assert not any(host.may_lie_at(address) for address in (*METADATA, "fe80::1", "169.254.1.1", "0.0.0.0"))
    assert Host("169.254.1.1", {"169.254.1.1"}).may_lie_at("169.254.1.1")
    assert not Host("other.test", {"exchange.test"}).may_lie_at("10.1.2.3")


def test_this_machine_is_this_machine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Host("localhost").may_lie_at("127.0.0.1")
    assert not Host("localhost").may_lie_at("10.1.2.3")
    assert not Host("127.0.0.1").may_lie_at("93.184.216.34")


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_a_redirect_to_the_metadata_leads_nowhere(status: str, connected: list[object]) -> None:
    def script(connection: Connection) -> None:
        connection.read_request()
        connection.answer(b"", status, "Location: http://169.254.169.254/latest/meta-data/")

    with ScriptedServer(script) as server, transport_closed(server.url) as line:
        for call, operation in ((line.read, READ), (line.send, ACT)):
            with pytest.raises(Exception, match="status 30"):
                call(bind(operation, {}))
        assert {address for address in connected if address[1] != server.port} == set()


@pytest.mark.parametrize("text", ["../latest", "../../_sandbox/reset", "..%2f..", "a/../../b", "//inner.test/"])
def test_an_address_in_a_path_can_not_leave_it(text: str) -> None:
    request = bind(BY_ADDRESS, {"address": text})
    assert request.target.startswith("/v2/address/")
    assert request.target.count("/") == 3
    assert request.target.rpartition("/")[2] not in {"", ".", ".."}


@pytest.mark.parametrize("text", [".", "..", "..."])
def test_dots_alone_are_no_address(text: str) -> None:
    with pytest.raises(BadArgument):
        bind(BY_ADDRESS, {"address": text})
