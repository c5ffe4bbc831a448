"""Making and moving simple-ledger tokens with a private key that travels to the service: rare, and off by default.

Nobody's page offers this. A command reads the key from standard input; what is kept says what was asked for and what
came of it, and the key is in none of it.
"""

from collections.abc import Callable
from datetime import datetime

from django.conf import settings
from django.db import transaction

from chaindata.client.keyed import TokenSender, Way
from chaindata.shared.addresses import allowed_networks, forms
from desk.audit import trail
from wire.errors import CallFailed
from wire.operation import BadArgument

ACTION = "chain.keyed_call"


def open_sender() -> TokenSender:
    """A way to the service for calls with a key. Raises `KeyWouldTravel` where the settings do not allow it."""
    way = Way(
        settings.CHAINDATA_URL,
        enabled=settings.CHAIN_KEYED_CALLS,
        hosts=settings.CHAIN_KEYED_HOSTS,
        private_hosts=settings.PRIVATE_HOSTS,
    )
    return TokenSender(way, networks=allowed_networks())


def send(*, what: str, funding_address: str, call: Callable[[], str], now: datetime) -> str:
    """Make one call and keep what was asked and what came of it; the id of the transaction.

    The intention is written before the call, so that a lost answer leaves a trace to look for. Raises what the call
    raises, and `NotAnAddress` for a funding address that is none: a key in its place is kept nowhere.
    """
    subject = f"chain-address:{forms(funding_address).slp_address}"
    _keep(subject, {"call": what, "state": "sending"}, now)
    try:
        txid = call()
    except (CallFailed, BadArgument) as failure:
        outcome = {"state": type(failure).__name__, "problem": str(failure)[:300]}
        _keep(subject, {"call": what, **outcome}, now)
        raise
    _keep(subject, {"call": what, "state": "sent", "txid": txid}, now)
    return txid


def _keep(subject: str, outcome: dict[str, str], now: datetime) -> None:
    with transaction.atomic():
        trail.record(actor=None, action=ACTION, subject=subject, before={}, after=outcome, now=now)
