"""A desk with people, keys, currencies and prices, in front of a sandbox of its own."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from desk import clock, totp
from tests.exchange_ops.domain.walks import TOTP_SECRET, Walk


@pytest.fixture
def ready(transactional_db: None, settings: Any) -> None:
    """Rows that every process sees, and one-time codes that stay good: people decide faster here than codes change."""
    settings.MFA_TOTP_TOLERANCE = 100


@pytest.fixture
def walk(ready: None, account: Any, demo_keys: Any, sandbox: Any, make_person: Callable[..., Any]) -> Walk:
    """The desk under test, with three people of treasury who have one-time codes."""
    from exchange_ops.domain import keys, market, policy

    policy.ensure_first(now=clock.now())
    client = keys.public_client()
    try:
        market.refresh(client=client, now=clock.now())
    finally:
        client.close()
    approvers = [make_person("treasury", username=name) for name in ("treasury", "treasury2", "treasury3")]
    for person in approvers:
        totp.enrol(person, TOTP_SECRET)
    return Walk(account=account, sandbox=sandbox, operator=make_person("operator"), approvers=approvers)


@pytest.fixture
def still_sandbox(settings: Any) -> Iterator[Any]:
    """A sandbox where nobody trades who isn't told to."""
    from sandbox.serving import InProcessSandbox

    with InProcessSandbox(seed=1, still=True) as server:
        settings.EXCHANGE_URL = server.url
        settings.EXCHANGE_CALLS_PER_SECOND = {"market": 100_000, "trading": 100_000, "other": 100_000}
        yield server


@pytest.fixture
def dealing(
    transactional_db: None, account: Any, demo_keys: Any, still_sandbox: Any, make_person: Callable[..., Any]
) -> Any:
    """The same desk, trading: symbols, the trading wallet and an operator are there."""
    from exchange_ops.domain import keys, market
    from tests.exchange_ops.domain.dealings import Dealing

    client = keys.public_client()
    try:
        market.refresh(client=client, now=clock.now())
    finally:
        client.close()
    desk = Dealing(account=account, sandbox=still_sandbox, operator=make_person("operator"))
    desk.read_funds()
    return desk
