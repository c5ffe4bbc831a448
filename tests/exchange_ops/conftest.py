"""The demo account with its keys, and clients for it, against the sandbox of the test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from desk import clock
from wire.values import Secret


@pytest.fixture
def account(db: None) -> Any:
    """The account that the sandbox's demo keys belong to; a hold that nobody decides on was seen to lapse there."""
    from exchange_ops.domain import facts
    from exchange_ops.models import Account

    account = Account.objects.create(name="Main desk", quote_currency="USD")
    facts.note(account=account, name=facts.HOLD_END, value=facts.LAPSES, now=clock.now())
    return account


@pytest.fixture
def demo_keys(account: Any) -> dict[str, Any]:
    """The read, trade and withdraw keys of the sandbox, sealed, by their logins."""
    from exchange_ops.domain import keys
    from exchange_ops.wire.catalogue import Right

    rights = {
        "demo-read": [Right.HISTORY, Right.PAYMENTS],
        "demo-trade": [Right.ORDERS, Right.HISTORY],
        "demo-withdraw": [Right.PAYMENTS, Right.WITHDRAW],
    }
    return {
        login: keys.add(
            account=account,
            label=login,
            login=login,
            secret=Secret(f"{login}-secret"),
            rights=given,
            actor=None,
            now=clock.now(),
        )
        for login, given in rights.items()
    }


@pytest.fixture
def client_as(sandbox: Any) -> Iterator[Callable[..., Any]]:
    """`client_as("demo-full")`: a client of the sandbox with one of its seeded keys."""
    from exchange_ops.client import ExchangeClient
    from exchange_ops.wire import refusals
    from wire.transport import Credentials, Transport

    opened = []

    def open_client(login: str = "demo-full", *, deadline_s: int = 5, **listeners: Any) -> ExchangeClient:
        transport = Transport(
            base_url=sandbox.url,
            credentials=Credentials(login, Secret(f"{login}-secret")),
            deadline_s=deadline_s,
            refusals=refusals.KNOWN,
        )
        opened.append(ExchangeClient(transport, **listeners))
        return opened[-1]

    yield open_client
    for client in opened:
        client.close()


@pytest.fixture
def run() -> Iterator[Callable[..., Any]]:
    """Start a follower, and end it after the test."""
    started: list[Any] = []

    def begin(follower: Any) -> Any:
        started.append(follower)
        follower.start()
        return follower

    yield begin
    for follower in started:
        follower.stop()
        follower.join(3)
        assert not follower.is_alive()
