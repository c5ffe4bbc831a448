"""Making and moving simple-ledger tokens with a private key that is sent to the service: rare, and off by default.

No page offers this. A command reads the key from standard input. The trail records the request and its outcome, and
never the key.
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
    """A client for calls with a key. Raises `KeyWouldTravel` if the settings do not allow them."""
    way = Way(
        settings.CHAINDATA_URL,
        enabled=settings.CHAIN_KEYED_CALLS,
        hosts=settings.CHAIN_KEYED_HOSTS,
        private_hosts=settings.PRIVATE_HOSTS,
    )
    return TokenSender(way, networks=allowed_networks())


def send(*, what: str, funding_address: str, call: Callable[[], str], now: datetime) -> str:
    """Make one call and record the request and its outcome. Returns the id of the transaction.

    The request is recorded before the call, so that a lost answer leaves a trace. Raises what the call raises, and
    `NotAnAddress` for a funding address that is none: a key typed in its place is recorded nowhere.
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
