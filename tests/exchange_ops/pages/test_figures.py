"""The overview by role, the funds, one currency, and profit and loss: what they show, and at what cost."""

import csv
import io
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.people import roles
from exchange_ops.ledger.models import Balance
from exchange_ops.margin.models import MarginAccount
from exchange_ops.pages.overview import views
from exchange_ops.portfolio.models import DailyFlow, Profit, ProfitDay, Snapshot, SnapshotLine
from exchange_ops.shared.models import Account
from exchange_ops.subaccounts.models import SubAccountBalance
from tests.cases import in_turn
from tests.exchange_ops import rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
CODES = ("AAA", "BBB", "CCC")


def text(response):
    """What a person reads, on one line."""
    body = re.sub(r"<svg.*?</svg>", "", response.content.decode(), flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def block(response, name):
    """The text of one part of the page."""
    body = response.content.decode()
    found = re.search(rf'<section[^>]* id="{name}".*?</section>', body, re.DOTALL)
    assert found, name
    return " ".join(re.sub(r"<[^>]+>", " ", re.sub(r"<svg.*?</svg>", "", found[0], flags=re.DOTALL)).split())


def queries(client, path):
    client.get(path)
    with CaptureQueriesContext(connection) as seen:
        assert client.get(path).status_code == 200
    return len(seen)


def kept(code, days_ago):
    """Everything that is kept of one currency on one day: a snapshot's line, a flow, what was earned."""
    now = clock.now()
    account, at = rows.account(now=now), now.replace(hour=0, minute=0, second=0, microsecond=0)
    at -= timedelta(days=days_ago)
    snapshot, _ = Snapshot.objects.get_or_create(
        account=account,
        hour=at,
        defaults={"taken_at": at, "kind": "daily", "quote": "USD", "bank": 100, "trading": 0},
    )
    line = {"amount": 2, "price": 50, "value": 100}
    SnapshotLine.objects.create(snapshot=snapshot, wallet="bank", currency=code, **line)
    figures = {"came_in": 3, "went_out": 1, "fees": 0, "price": 50}
    DailyFlow.objects.create(account=account, day=at.date(), currency=code, **figures)
    profit(code)


def profit(code, **figures):
    """What a coin came to by first in, first out: two bought for 100, all of it with a known cost."""
    nothing = dict.fromkeys(
        ("unknown_quantity", "fees", "sold_without_cost", "proceeds_without_cost", "left_without_price"), 0
    ) | dict.fromkeys(("cost_without_price", "opening", "unexplained"), 0)
    figures = {"known_quantity": 2, "cost": 100, "realised": Decimal("12.5")} | figures
    row = Profit.objects.create(
        account=rows.account(now=clock.now()),
        coin=code,
        method="fifo",
        computed_at=clock.now(),
        **nothing | figures,
    )
    ProfitDay.objects.create(profit=row, day=clock.now().date(), realised=row.realised, fees=0)
    return row


def test_the_overview_of_each_role_takes_no_more_queries_for_more_rows(signed_in, make_person, operator):
    now = clock.now()
    clients = {role: signed_in(make_person(role, username=f"a-{role}")) for role in in_turn(roles.ALL)}

    def more(number):
        kept(CODES[number], number)
        rows.held(operator, now=now)
        rows.entry(number + 1, now=now, withdrawal=rows.ended(operator, now=now), type="payout")
        rows.currency(CODES[number], now=now)
        rows.balance(CODES[number], now=now)

    more(0)
    one = {role: queries(client, "/") for role, client in clients.items()}
    more(1)
    more(2)
    assert {role: queries(client, "/") for role, client in clients.items()} == one


@pytest.mark.parametrize("path", ["/funds/BCH/", "/profit/", "/profit/?range=30&method=average", "/profit/export.csv"])
def test_the_pages_of_figures_take_no_more_queries_for_more_rows(signed_in, treasury, operator, path):
    client, now = signed_in(treasury), clock.now()
    kept("BCH", 0)
    rows.held(operator, now=now)
    rows.entry(1, now=now)
    one = queries(client, path)
    for number, code in enumerate(CODES, start=1):
        kept(code, number)
        rows.held(operator, now=now)
        rows.entry(number + 1, now=now)
    assert queries(client, path) == one


@pytest.mark.parametrize("role", roles.ALL)
def test_each_role_sees_its_blocks_in_its_order(signed_in, make_person, role):
    page = signed_in(make_person(role, username="reader")).get("/").content.decode()
    wanted = [name for row in views.LAYOUT[role] for name, _ in row]
    found = [name for name in re.findall(r'<section[^>]* id="([a-z]+)"', page) if name in wanted]
    assert found == wanted


def test_sub_accounts_and_collateral_are_shown_apart_and_counted_once(signed_in, treasury):
    now = clock.now()
    SubAccountBalance.objects.create(
        sub_account=rows.subaccount(now=now), currency="BCH", wallet="main", available=2, reserved=0
    )
    rows.margin_position(now=now)
    rows.currency("USD", now=now)
    page = signed_in(treasury).get("/")
    # 510 BCH at 500 in the wallets, two in the sub-account, 100 USD of collateral.
    assert "256,100.00 USD" in block(page, "balances")
    line = block(page, "accounts")
    for figure in ("255,000.00", "1,000.00", "100.00", "256,100.00"):
        assert figure in line
    assert "100.0000 USD" not in block(page, "balances")
    funds = signed_in(treasury).get("/funds/")
    assert "256,100.00 USD total" in text(funds)
    assert "2.0000 in sub-accounts" in text(funds)
    assert "100.0000 collateral" in text(funds)


def test_a_currency_that_is_held_as_collateral_alone_is_not_folded_away(signed_in, treasury):
    now = clock.now()
    for code in ("USD", "LTC"):
        rows.currency(code, now=now)
    rows.margin_position(now=now)
    page = signed_in(treasury).get("/funds/").content.decode()
    table, _, folded = page.partition('id="folded"')
    assert "100.0000 collateral" in table
    assert "LTC" in folded
    assert "/funds/USD/" not in folded


def test_collateral_of_an_account_that_is_gone_counts_no_more(signed_in, treasury):
    now = clock.now()
    rows.margin_position(now=now)
    MarginAccount.objects.update(gone_at=now)
    assert "255,000.00 USD" in block(signed_in(treasury).get("/"), "balances")


def test_a_price_that_is_unknown_is_called_so_and_is_no_zero(signed_in, treasury):
    now = clock.now()
    Balance.objects.all().delete()
    rows.currency("XYZ", now=now)
    rows.balance("XYZ", now=now)
    profit("XYZ")
    client = signed_in(treasury)
    assert "No current prices: XYZ." in block(client.get("/"), "balances")
    assert "unknown" in text(client.get("/funds/"))
    page = client.get("/profit/").content.decode()
    assert re.search(r'data-head="Unrealised">\s*<span class="muted">–</span>', page)
    assert "No current price: XYZ" in page


def test_realised_and_unrealised_stand_beside_the_method_they_come_from(signed_in, treasury):
    profit("BCH", known_quantity=2, cost=900, realised=Decimal("-30"), sold_without_cost=3, proceeds_without_cost=70)
    page = text(signed_in(treasury).get("/profit/"))
    assert "Profit and loss First in, first out" in page
    assert "+100.00 USD" in page, "two at 500 above their cost of 900"
    assert "−30.00 USD" in page
    assert "3.0000 BCH without a cost basis sold or sent (70.00), excluded from realised" in page
    assert "Not calculated yet" in text(signed_in(treasury).get("/profit/?method=average"))


def test_the_file_says_the_same_and_leaves_empty_what_is_not_known(signed_in, treasury):
    profit("XYZ", known_quantity=0, cost=0, unknown_quantity=5)
    response = signed_in(treasury).get("/profit/export.csv")
    (line,) = csv.DictReader(io.StringIO(response.content.decode("utf-8-sig")))
    assert (line["coin"], line["method"], line["realised"]) == ("XYZ", "First in, first out", "12.5")
    assert (line["average cost"], line["price"], line["unrealised"], line["no known cost"]) == ("", "", "", "5")


def test_a_currency_that_nobody_knows_is_not_found(signed_in, treasury):
    client = signed_in(treasury)
    assert client.get("/funds/NOPE/").status_code == 404
    assert client.get("/funds/%00/").status_code == 404


def test_a_divided_amount_is_written_to_eight_places(signed_in, treasury):
    profit(
        "BCH",
        known_quantity=Decimal("2.490653821534691071753246"),
        unknown_quantity=Decimal("65.833333333333333333333333"),
    )
    page = text(signed_in(treasury).get("/funds/BCH/"))
    assert "2.49065382 BCH at a cost of 100.00 USD, 65.83333333 BCH without a cost basis" in page


@pytest.mark.parametrize(
    ("label", "path"),
    [
        ("Deposit", "/funds/BCH/deposit/"),
        ("Withdraw", "/withdrawals/new/?currency=BCH"),
        ("Transfer", "/transfers/new/move/?currency=BCH"),
        ("Trade", "/markets/BCHUSD/"),
        ("Protect", "/orders/new/?protect=stop&symbol=BCHUSD"),
    ],
)
def test_each_way_of_a_row_leads_to_its_form_with_the_currency_chosen(signed_in, operator, label, path):
    rows.currency(now=clock.now(), transfer_enabled=True)
    client = signed_in(operator)
    page = client.get("/funds/").content.decode()
    found = re.search(rf'href="([^"]*)" aria-label="{label} BCH"', page)
    assert found, f"{label} can't be done"
    assert found[1].replace("&amp;", "&") == path
    form = client.get(path)
    assert form.status_code == 200
    assert "BCH" in text(form)


def test_trade_leads_to_the_market_of_the_currency_itself_in_the_quote_of_the_account(signed_in, operator):
    """BTC is priced in by others, and has markets in two quotes; those of the account's come first."""
    account, now = rows.account(), clock.now()
    for base, quote in (("BCH", "BTC"), ("BTC", "EUR"), ("BTC", "USD")):
        rows.price(base=base, quote=quote, now=now)
    rows.currency("BTC", now=now)
    rows.balance("BTC", now=now)
    for quote in ("USD", "EUR"):
        Account.objects.filter(pk=account.pk).update(quote_currency=quote)
        page = signed_in(operator).get("/funds/").content.decode()
        assert re.search(r'href="([^"]*)" aria-label="Trade BTC"', page)[1] == f"/markets/BTC{quote}/"
