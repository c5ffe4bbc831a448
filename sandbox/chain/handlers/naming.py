"""Addresses as the service reads and prints them (supplement 5.1).

Every spelling of a hash on a test chain is taken, and printed with the prefixes and versions of the test network, which
every client knows.
"""

from collections.abc import Sequence
from dataclasses import replace

from chaindata.wire import addresses, refusals
from chaindata.wire.addresses import Address, Network, NotAnAddress, OtherNetwork
from chaindata.wire.refusals import Refusal
from chaindata.wire.scripts import steps
from sandbox.chain.node.terms import Refused

PRINTED = Network.TEST
TAKEN = (Network.TEST, Network.REGTEST)


def read(text: str, *, not_ours: Refusal = refusals.INVALID_NETWORK) -> Address:
    """The address that a text spells, as it is printed. Raises `Refused`: with `not_ours` for other networks."""
    try:
        address = addresses.read(text, networks=TAKEN)
        steps.locking(address)
    except OtherNetwork:
        raise Refused(not_ours, value=text) from None
    except (NotAnAddress, steps.NotAScript):
        raise Refused(refusals.INVALID_ADDRESS, value=text) from None
    return printed(address)


def of_any_network(text: str) -> Address:
    """The address that a text spells on whichever network, as it is printed. Raises `NotAnAddress`."""
    return printed(addresses.read(text, networks=(Network.MAIN, *TAKEN)))


def printed(address: Address) -> Address:
    """The same hash under the network that is printed here."""
    return replace(address, network=PRINTED) if address.network in TAKEN else address


def of_script(script: bytes) -> Address | None:
    """Whom a locking script pays, when that is one address."""
    payees: Sequence[Address] = steps.addresses_of(script, PRINTED)
    return payees[0] if len(payees) == 1 else None
