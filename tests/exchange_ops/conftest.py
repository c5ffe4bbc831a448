"""The demo account with its keys, and clients for it, against the sandbox of the test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from desk import clock
from wire.values import Secret


@pytest.fixture
def account(db: None) -> Any:
    """The account that the sandbox's demo keys belong to; a hold that nobody decides on was seen to lapse there."""
    from exchange_ops.shared import facts
    from exchange_ops.shared.models import Account

    account = Account.objects.create(name="Main desk", quote_currency="USD")
    facts.note(account=account, name=facts.HOLD_END, value=facts.LAPSES, now=clock.now())
    return account


@pytest.fixture
def demo_keys(account: Any) -> dict[str, Any]:
    """The read, trade and withdraw keys of the sandbox, sealed, by their logins."""
    from exchange_ops.keys import store as keys
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
            rights=granted,
            actor=None,
            now=clock.now(),
        )
        for login, granted in rights.items()
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
            refusals=refusals.NOTHING_DONE,
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


# The desk in front of a sandbox ---------------------------------------------------------------------------------------


@pytest.fixture
def ready(transactional_db: None, settings: Any) -> None:
    """Rows that every process sees, and one-time codes that stay good: people decide faster here than codes change."""
    settings.MFA_TOTP_TOLERANCE = 100


@pytest.fixture
def walk(ready: None, account: Any, demo_keys: Any, sandbox: Any, make_person: Callable[..., Any]) -> Any:
    """The desk under test, with three people of treasury who have one-time codes."""
    from django.db import transaction

    from desk.people import totp
    from exchange_ops.market import reference as market
    from exchange_ops.policy import quorum as policy
    from exchange_ops.shared import public_client
    from tests.exchange_ops.withdrawals.walks import TOTP_SECRET, Walk

    policy.ensure_first(now=clock.now())
    client = public_client.open_client()
    try:
        market.refresh(client=client, now=clock.now())
    finally:
        client.close()
    with transaction.atomic():
        approvers = [make_person("treasury", username=name) for name in ("treasury", "treasury2", "treasury3")]
        for person in approvers:
            totp.enrol(person, TOTP_SECRET)
        operator = make_person("operator")
    return Walk(account=account, sandbox=sandbox, operator=operator, approvers=approvers)


@pytest.fixture
def moving(walk: Any) -> Any:
    """Transfers on that desk; its sub-accounts are known, and one of them holds something."""
    from tests.exchange_ops.transfers.movings import Moving

    ready = Moving(walk)
    ready.read_subaccounts()
    return ready


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
    from exchange_ops.market import reference as market
    from exchange_ops.shared import public_client
    from tests.exchange_ops.orders.dealings import Dealing

    client = public_client.open_client()
    try:
        market.refresh(client=client, now=clock.now())
    finally:
        client.close()
    desk = Dealing(account=account, sandbox=still_sandbox, operator=make_person("operator"))
    desk.read_funds()
    return desk


@pytest.fixture
def margin_desk(dealing: Any) -> Any:
    """The desk that trades, on margin."""
    from tests.exchange_ops.positions.margin_desk import MarginDesk

    return MarginDesk(dealing)


# Browsers and programs ------------------------------------------------------------------------------------------------


def await_so(page: Any, is_so: Callable[[], bool], seconds: int = 30) -> None:
    """Wait for what the page's events bring about."""
    for _ in range(seconds * 20):
        if is_so():
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"it did not come about within {seconds} s")


@pytest.fixture
def payable(db: None) -> None:
    """An account that can pay out BCH, with a fresh price and money in the bank wallet."""
    from tests.exchange_ops import rows

    now = clock.now()
    rows.account(now=now)
    rows.currency(now=now)
    rows.price(now=now)
    rows.balance(now=now)


@pytest.fixture
def open_as(live_desk: Any, new_page: Callable[..., Any], password: str, payable: None) -> Callable[..., Any]:
    """`open_as(person, path)`: that person's page in a browser session of its own, listening and read once more.

    `before(page)` is called before it opens anything. What the content security policy stopped is in `page.violations`.
    """

    from tests import door
    from tests.e2e.craft import traffic

    def open_page(person: Any, path: str, *, before: Callable[[Any], None] | None = None, **options: Any) -> Any:
        page = new_page(**options)
        page.violations = []
        page.on("console", lambda line: page.violations.append(line.text) if "Content Security" in line.text else None)
        if before is not None:  # it may put itself between the page and its socket, and then hears what passes itself
            before(page)
        door.sign_in(page, live_desk.url, person.username, password)
        traffic.open_page(page, f"{live_desk.url}{path}", joins=before is None)
        page.wait_for_selector("#strip [data-now]", state="attached")
        return page

    return open_page


@pytest.fixture
def with_token(db: None, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    """`with_token(person)`: a client that carries a fresh token of that person, and may ask as often as it likes."""
    from rest_framework.test import APIClient

    from desk.people import token_rates, tokens

    monkeypatch.setattr(token_rates.TokenRate, "THROTTLE_RATES", {"token": None})

    def open_client(person: Any) -> Any:
        _, secret = tokens.create(person=person, name="test", now=clock.now())
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret.reveal()}")
        return client

    return open_client
