"""Digests of the property-token layer, by which two nodes find out whether they agree (supplement 1.12)."""

from collections.abc import Iterator
from hashlib import sha256

from sandbox.chain.tokens.properties_state import State


def consensus(state: State) -> str:
    """The digest of everything: balances, open sales, issuers."""
    return _digest((*_balances(state), *_sales(state), *_issuers(state)))


def balances(state: State, property_id: int) -> str:
    """The digest of the balances in one property."""
    return _digest(_balances(state, property_id))


def _digest(texts: tuple[str, ...] | Iterator[str]) -> str:
    digest = sha256()
    for text in texts:
        digest.update(text.encode("ascii"))
    return digest.digest()[::-1].hex()


def _balances(state: State, only: int | None = None) -> Iterator[str]:
    held_by_id = state.balances if only is None else {only: state.balances.get(only, {})}
    rows = sorted((address, each, units) for each, held in held_by_id.items() for address, units in held.items())
    for address, property_id, units in rows:
        yield f"{address}|{property_id}|{units}|0|0|0"


def _sales(state: State) -> Iterator[str]:
    for property_id in sorted(state.selling.values()):
        sale = state.sales[property_id]
        yield f"{property_id}|{sale.desired_id}|{sale.deadline_s}|{sale.sold}|0"


def _issuers(state: State) -> Iterator[str]:
    for property_id, each in sorted(state.properties.items()):
        yield f"{property_id}|{each.issuer}"
