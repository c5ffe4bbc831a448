"""Addresses for pages and other rooms: every form of an address, on the networks that this desk works with."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from chaindata.wire import addresses as wire_addresses
from chaindata.wire.addresses import Network, NotAnAddress, OtherNetwork

__all__ = [
    "Forms",
    "NotAnAddress",
    "OtherNetwork",
    "allowed_networks",
    "display_form",
    "every_form",
    "forms",
    "printed",
    "printing_network",
    "same",
    "spellings",
]


@dataclass(frozen=True, slots=True)
class Forms:
    """One address spelled in every form; `legacy_address` is empty for hashes that have no such form."""

    network: str
    kind: str
    cash_address: str
    legacy_address: str
    slp_address: str


def allowed_networks() -> tuple[Network, ...]:
    """The networks of the setting CHAIN_NETWORKS, the preferred one first."""
    return tuple(Network(name) for name in settings.CHAIN_NETWORKS)


def forms(text: str, *, networks: Sequence[Network] | None = None) -> Forms:
    """Every form of the address that `text` spells.

    Raises `OtherNetwork` for an address of another network and `NotAnAddress` for any other text, each with a sentence.
    """
    address = wire_addresses.read(text, networks=allowed_networks() if networks is None else networks)
    return Forms(
        network=str(address.network),
        kind=str(address.kind),
        cash_address=address.cash_address,
        legacy_address=address.legacy_address,
        slp_address=address.slp_address,
    )


def printing_network() -> Network:
    """The network whose prefix addresses are printed with: on a regtest it is that of the test network.

    Both have one legacy form, and services print `bchtest:` for either (supplement 5.1), so a page has one spelling.
    """
    preferred = allowed_networks()[0]
    return preferred if preferred is Network.MAIN else Network.TEST


def printed(text: str) -> str:
    """The one cash address that pages print and link and the service is asked about. Raises as `forms` does."""
    address = wire_addresses.read(text, networks=allowed_networks())
    network = Network.MAIN if address.network is Network.MAIN else Network.TEST
    return wire_addresses.cash_encode(wire_addresses.CASH_PREFIX[network], address.kind, address.hash)


def display_form(text: str) -> str:
    """The cash address that people read, here as on the pages of payouts: with the prefix of the first network.

    It differs from `printed` only where test networks share an address. Raises as `forms` does.
    """
    address = wire_addresses.read(text, networks=allowed_networks())
    network = Network.MAIN if address.network is Network.MAIN else _test_network()
    return wire_addresses.cash_encode(wire_addresses.CASH_PREFIX[network], address.kind, address.hash)


def _test_network() -> Network:
    return next((network for network in allowed_networks() if network is not Network.MAIN), Network.TEST)


def spellings(text: str) -> set[str]:
    """Every text for this hash: each form on each network that shares its legacy form. Raises as `forms` does."""
    address = wire_addresses.read(text)
    is_main = address.network is Network.MAIN
    networks = (Network.MAIN,) if is_main else (Network.TEST, Network.REGTEST)
    addresses = [wire_addresses.Address(network, address.kind, address.hash) for network in networks]
    texts = {form for each in addresses for form in (each.cash_address, each.slp_address, each.legacy_address) if form}
    return texts | {form.partition(":")[2] for form in texts if ":" in form}


def every_form(text: str) -> list[str]:
    """The same in a fixed order; empty if the text is no address of our chain."""
    try:
        return sorted(spellings(text))
    except (NotAnAddress, OtherNetwork):
        return []


def same(text: str, other: str) -> bool:
    """Whether two texts spell the same hash, both on the main network or both on test networks."""
    try:
        first, second = wire_addresses.read(text), wire_addresses.read(other)
    except NotAnAddress:
        return False
    worlds = first.network is Network.MAIN, second.network is Network.MAIN
    return worlds[0] == worlds[1] and (first.kind, first.hash) == (second.kind, second.hash)
