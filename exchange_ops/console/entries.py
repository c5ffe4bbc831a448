"""The operations of the three outside services in one shape, as the console lists, sends and explains them.

Everything comes from the catalogues, except where to do what the console does not send.
Sources: exchange REST, Endpoints; exchange streams, Endpoints; chain data, Endpoints.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from chaindata.wire import catalogue as chain_catalogue
from exchange_ops.console import elsewhere
from exchange_ops.console.elsewhere import Elsewhere
from exchange_ops.wire import catalogue, streams
from exchange_ops.wire.catalogue import Right
from exchange_ops.wire.streams import Address
from wire.operation import Operation
from wire.params import Param

EXCHANGE: Final = "exchange"
STREAMS: Final = "streams"
CHAIN: Final = "chain"
# The right that the key of a socket needs (supplement 2.4).
RIGHTS: Final = {Address.TRADING: Right.ORDERS, Address.ACCOUNT: Right.PAYMENTS}
_SOCKETS: Final = {
    Address.PUBLIC: "Public socket",
    Address.TRADING: "Trading socket",
    Address.ACCOUNT: "Account socket",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation. `needs_key`: it is sent with a key of the account, with the `right` if one is named.

    `sign` is the HTTP method or "WS"; `place` is the path, or the socket's address. `notifies` are the notifications
    that a subscription brings. `elsewhere` is set if the console does not send it.
    """

    service: str
    name: str
    group: str
    sign: str
    place: str
    params: tuple[Param, ...]
    result: object
    needs_key: bool
    right: Right | None
    note: str
    elsewhere: Elsewhere | None
    notifies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """One outside service, and its operations by name in their documented order."""

    name: str
    title: str
    lead: str
    entries: Mapping[str, Entry]

    @property
    def groups(self) -> dict[str, list[Entry]]:
        """The operations by their documented groups."""
        groups: dict[str, list[Entry]] = {}
        for entry in self.entries.values():
            groups.setdefault(entry.group, []).append(entry)
        return groups


def _rest(service: str, rows: Iterable[Operation], places: Mapping[str, Elsewhere], *, keyed: bool) -> list[Entry]:
    return [
        Entry(
            service=service,
            name=row.name,
            group=row.group,
            sign=row.method,
            place=row.path,
            params=row.params,
            result=row.result,
            needs_key=keyed and not row.public,
            right=row.right if isinstance(row.right, Right) else None,
            note=row.note,
            elsewhere=places.get(row.name),
        )
        for row in rows
    ]


def _streams() -> list[Entry]:
    return [
        Entry(
            service=STREAMS,
            name=method.name,
            group=_SOCKETS[method.addresses[0]],
            sign="WS",
            place=method.addresses[0].value,
            params=method.params,
            result=method.result,
            needs_key=method.addresses[0] is not Address.PUBLIC,
            right=RIGHTS.get(method.addresses[0]),
            note=method.note,
            elsewhere=elsewhere.STREAMS.get(method.name),
            notifies=method.notifies,
        )
        for method in streams.METHODS
    ]


def _by_name(entries: Iterable[Entry]) -> dict[str, Entry]:
    return {entry.name: entry for entry in entries}


SERVICES: Final[Mapping[str, Catalogue]] = {
    EXCHANGE: Catalogue(
        EXCHANGE,
        "Exchange REST API",
        "Account, orders and public market data, one request at a time.",
        _by_name(_rest(EXCHANGE, catalogue.by_name.values(), elsewhere.EXCHANGE, keyed=True)),
    ),
    STREAMS: Catalogue(
        STREAMS,
        "Exchange streams",
        "Account, orders and market data over WebSocket. Subscriptions end after three seconds.",
        _by_name(_streams()),
    ),
    CHAIN: Catalogue(
        CHAIN,
        "Chain data",
        "Blocks, transactions, addresses and tokens from the chain-data service.",
        _by_name(_rest(CHAIN, chain_catalogue.by_name.values(), elsewhere.CHAIN, keyed=False)),
    ),
}


def entry(service: str, name: str) -> Entry | None:
    """The operation of that name, or None."""
    service_catalogue = SERVICES.get(service)
    return service_catalogue.entries.get(name) if service_catalogue else None
