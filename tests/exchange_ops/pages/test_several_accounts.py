"""Two accounts side by side: nothing of one is ever seen, decided or asked for through the other, on any address."""

from datetime import timedelta

import pytest
from django.apps import apps
from django.db.models import Q
from django.test import Client

from desk import clock, rooms
from desk.incidents.models import Incident
from desk.notifications import finding
from desk.notifications.models import Notification
from desk.people import roles, tokens
from exchange_ops.keys import store
from exchange_ops.ledger.models import Balance
from exchange_ops.margin.models import MarginAccount
from exchange_ops.pages.account_paths import THREADS
from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze
from exchange_ops.shared.models import Account
from exchange_ops.subaccounts.models import SubAccountBalance
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows
from tests.exchange_ops.pages.test_routes import ADDRESSES, MATRIX, OPEN, person_of, takes_part
from wire.values import Secret

pytestmark = pytest.mark.django_db

# What a part of a path may name that belongs to no account.
OF_THE_DESK = {
    "incident_id",
    "restore_id",
    "name",
    "number",
    "file_id",
    "person_id",
    "kind",
    "token_id",
    "change_id",
    "delivery_id",
    "channel_id",
    "currency",
    "symbol",
    "named",
    "txid",
    "text",
    "broadcast_id",
    "watched_id",
    "change",
    "target",
    "service",
    "operation",
    "pk",
    "form",
    "list_name",
    "saved_id",
    "wide_freeze_id",
}
MARK = "Zanzibar"  # stands in everything that the first account has
# Pages of the desk itself, whose readers see all of it.
OF_THE_WHOLE_DESK = {"audit", "audit-export", "deliveries", "deliveries-export"}


@pytest.fixture
def two(operator, payable):
    """An account with something of everything, all marked, and a second one that has almost nothing."""
    now = clock.now()
    first = Account.objects.get()
    payout = rows.held(operator, now=now, reason=f"{MARK} payout")
    rows.subaccount(payout.pk, now=now, email=f"{MARK}@firm.test")
    moved = rows.transfer(operator, kind="to_user", now=now, reason=f"{MARK} transfer")
    rows.entry(payout.pk, now=now, exchange_id=f"{MARK}-entry", address=f"{MARK}-address")
    key = store.add(
        account=first,
        label=f"{MARK} key",
        login=f"{MARK}-1",
        secret=Secret("x"),
        rights=(Right.PAYMENTS,),
        actor=None,
        now=now,
    )
    freezes.freeze(person=None, reason=f"{MARK} frozen", account=first, now=now)
    second = Account.objects.create(name="Second desk", quote_currency="USD")
    ids = {
        "withdrawal": payout.pk,
        "transfer": moved.pk,
        "margin-action": rows.margin_action(operator, now=now).pk,
        "key": key.pk,
        "incident": Incident.objects.get().pk,
        "freeze": Freeze.objects.get().pk,
        "subaccount": payout.pk,
    }
    return first, second, ids


def place(name, ids, operator):
    bare = name.removeprefix("api-")
    kind = next((each for each in ids if bare.startswith(each)), "withdrawal")
    number = operator.pk if bare.startswith("person") else ids["freeze" if name == "policy-thaw" else kind]
    return ADDRESSES[name].replace("{key}", str(number))


def test_every_part_of_a_path_is_known_to_belong_to_an_account_or_to_none():
    from django.urls import URLPattern, get_resolver

    def parts(patterns):
        for pattern in patterns:
            if isinstance(pattern, URLPattern):
                yield from pattern.pattern.converters
            else:
                yield from parts(pattern.url_patterns)

    assert set(parts(get_resolver().url_patterns)) == set(rooms.paths()) | OF_THE_DESK
    assert set(THREADS.values()) <= set(rooms.paths())


def owned_rows(account):
    """Every row of every table that belongs to an account, as it stands."""
    found = {}
    for model in apps.get_models():
        names = {field.name: field for field in model._meta.concrete_fields}
        if "account" in names and names["account"].related_model is Account:
            found[model.__name__] = list(model.objects.filter(account=account).order_by("pk").values())
    return found


@pytest.mark.every(2, "every address as every role")
@pytest.mark.parametrize("role", roles.ALL)
def test_nothing_of_one_is_seen_or_changed_through_the_other(role, two, make_person, operator, signed_in):
    first, second, ids = two
    client = signed_in(person_of(role, make_person, operator))
    before = owned_rows(first)
    assert before["Withdrawal"]
    assert before["Transfer"]
    for name in sorted(MATRIX):
        path = place(name, ids, operator)
        if MATRIX[name][0] == OPEN or path.startswith(("/healthz", "/readyz", "/metrics")):
            continue
        for method in ("get", "post"):
            if not takes_part(role, name, method, loop="through the other"):
                continue
            response = getattr(client, method)(f"/accounts/{second.pk}{path}")
            label = f"{method} {name} as {role}: {response.status_code}"
            assert response.status_code < 500, label
            if "/{key}/" in ADDRESSES[name] and not name.startswith(
                ("person", "policy-change", "policy-version", "token", "delivery", "channel")
            ):
                assert response.status_code in {403, 404, 405}, label
            page = b"".join(response) if response.streaming else response.content
            if name not in OF_THE_WHOLE_DESK:
                assert MARK not in page.decode(), f"{label} shows the other account"
    assert owned_rows(first) == before


def test_through_its_own_account_it_is_there(two, treasury, signed_in):
    first, second, ids = two
    client = signed_in(treasury)
    for prefix in (f"/accounts/{first.pk}", ""):
        assert f"{MARK} payout" in client.get(f"{prefix}/withdrawals/{ids['withdrawal']}/").content.decode()
    assert f"{MARK} frozen" in client.get(f"/accounts/{first.pk}/action/").content.decode()
    assert client.get(f"/accounts/{second.pk}/withdrawals/").status_code == 200
    assert client.get(f"/accounts/{second.pk + 9}/withdrawals/").status_code == 404
    assert client.get("/accounts/0/withdrawals/").status_code == 404


def test_links_forms_and_parts_of_a_page_stay_with_its_account(two, operator, signed_in):
    _, second, _ = two
    page = signed_in(operator).get(f"/accounts/{second.pk}/withdrawals/").content.decode()
    assert f'hx-get="/accounts/{second.pk}/withdrawals/' in page
    assert f'href="/accounts/{second.pk}/withdrawals/new/"' in page
    assert f'action="/accounts/{second.pk}/withdrawals/"' in page
    assert 'href="/withdrawals/new/"' not in page


def test_a_page_of_one_account_leads_to_the_last_one_looked_at(two, operator, signed_in):
    first, second, _ = two
    client = signed_in(operator)
    assert client.get("/orders/?state=x")["Location"] == f"/accounts/{first.pk}/orders/?state=x"
    client.get(f"/accounts/{second.pk}/funds/")
    client.get(f"/accounts/{first.pk}/funds/", headers={"HX-Request": "true"})
    assert client.get("/orders/")["Location"] == f"/accounts/{second.pk}/orders/"
    refreshed = client.get("/orders/", headers={"HX-Request": "true"})
    assert (refreshed.status_code, refreshed["HX-Refresh"]) == (204, "true")


def test_what_is_sent_to_no_account_is_not_guessed(two, operator, signed_in):
    client = signed_in(operator)
    before = Withdrawal.objects.count()
    assert client.post("/withdrawals/new/", {"currency": "BCH", "amount": "1"}).status_code == 404
    answer = client.get("/api/v1/withdrawals/")
    assert answer.status_code == 404
    assert "/accounts/1/api/v1/" in answer.json()["detail"]
    assert Withdrawal.objects.count() == before


def test_all_accounts_are_added_up_with_what_is_below_them_apart(two, auditor, signed_in):
    first, second, _ = two
    now = clock.now()
    Balance.objects.filter(account=first).delete()
    rows.price("ETH", now=now, last="10")
    amounts = {"currency": "ETH", "available": 1, "reserved": 1}
    Balance.objects.create(account=first, wallet=Balance.BANK, read_at=now, **amounts)
    Balance.objects.create(account=second, wallet=Balance.TRADING, read_at=now, **amounts)
    below = first.subaccounts.get()
    SubAccountBalance.objects.create(sub_account=below, wallet=SubAccountBalance.MAIN, **amounts)
    moments = dict.fromkeys(("created_at", "updated_at", "read_at"), now)
    held = dict.fromkeys(("margin_balance_orders", "margin_balance_required"), 0)
    MarginAccount.objects.create(account=second, symbol="ETHUSD", leverage=1, margin_balance=5, **held, **moments)
    client = signed_in(auditor)
    for path in ("/", "/funds/"):
        page = client.get(path).content.decode()
        assert "65.00 USD" in page
        for figure in ("40.00", "20.00", "25.00"):
            assert f">{figure}<" in page
    part = client.get("/", headers={"HX-Request": "true", "HX-Target": "accounts"}).content.decode()
    assert f'href="/accounts/{second.pk}/"' in part
    own = client.get(f"/accounts/{second.pk}/funds/").content.decode()
    assert "25.00 USD" in own
    assert "5.00\n      margin collateral" in own
    assert "65.00" not in own


def test_the_pages_of_all_name_whose_each_line_is(two, treasury, operator, signed_in):
    first, second, _ = two
    rows.entry(99, now=clock.now() + timedelta(seconds=1), account=second, exchange_id="second-entry")
    client = signed_in(treasury)
    for path in ("/ledger/", "/action/", "/"):
        assert '<span class="tag account"><bdi>Main desk</bdi></span>' in client.get(path).content.decode(), path
    assert "second-entry" not in client.get(f"/accounts/{first.pk}/ledger/").content.decode()


def test_whoever_is_told_of_a_payout_reads_whose_it_is(two, treasury, operator):
    _, second, _ = two
    finding.notify_due(now=clock.now())
    row = rows.held(operator, now=clock.now(), account=second)
    finding.notify_due(now=clock.now())
    assert Notification.objects.get(subject=row.subject).sentence.startswith("Second desk: ")


@pytest.mark.parametrize(
    "path",
    [
        "/accounts/0/",
        "/accounts/01/",
        "/accounts/-1/",
        "/accounts/999999999999999999/",
        "/accounts/99999999999999999999999/",
        "/accounts/1//evil.test/",
        "/accounts/1/accounts/2/",
        "/accounts/1/static/css/base.css",
        "/accounts/١/",
        "/accounts/1%2F..%2F2/",
        "/accounts/",
    ],
)
def test_an_odd_account_in_a_path_is_no_page(two, operator, signed_in, path):
    assert signed_in(operator).get(path).status_code == 404


@pytest.mark.parametrize("role", ["admin", "operator"])
def test_a_token_reaches_nothing_of_the_other_account(role, two, make_person, operator):
    first, second, ids = two
    person = person_of(role, make_person, operator)
    secret = tokens.create(person=person, name="x", now=clock.now())[1].reveal()
    client, before = Client(headers={"Authorization": f"Bearer {secret}"}), owned_rows(first)
    for name in sorted(name for name in MATRIX if name.startswith("api-") and name != "api-docs"):
        for method in ("get", "post"):
            response = getattr(client, method)(f"/accounts/{second.pk}{place(name, ids, operator)}")
            assert response.status_code < 500
            assert MARK not in response.content.decode(), f"{method} {name}"
            if "{key}" in ADDRESSES[name]:
                assert response.status_code in {403, 404, 405}, f"{method} {name}: {response.status_code}"
    assert owned_rows(first) == before
    own = client.get(f"/accounts/{first.pk}/api/v1/withdrawals/{ids['withdrawal']}/")
    assert own.json()["reason"] == f"{MARK} payout"


def test_a_stranger_learns_nothing_of_which_accounts_and_rows_there_are(two):
    first, second, ids = two
    row = f"api/v1/withdrawals/{ids['withdrawal']}/"
    answers = {
        Client().get(f"/accounts/{number}/{path}").status_code
        for number in (first.pk, second.pk, 99)
        for path in (row, "api/v1/withdrawals/")
    }
    assert answers == {401}
    assert {Client().get(f"/accounts/{number}/funds/").status_code for number in (second.pk, 99)} == {302}


def test_a_stranger_comes_back_to_the_account_after_signing_in(two):
    _, second, _ = two
    answer = Client().get(f"/accounts/{second.pk}/funds/")
    assert answer["Location"] == f"/accounts/{second.pk}/sign-in/?next=/accounts/{second.pk}/funds/"
    assert Client().get(answer["Location"]).status_code == 200


def test_a_path_without_its_last_slash_is_the_overview(two, operator, signed_in):
    _, second, _ = two
    page = signed_in(operator).get(f"/accounts/{second.pk}").content.decode()
    assert f'hx-get="/accounts/{second.pk}' in page


def test_one_account_alone_offers_no_choice(payable, auditor, signed_in):
    page = signed_in(auditor).get("/").content.decode()
    assert 'class="switch"' not in page
    assert Account.objects.filter(~Q(name="Main desk")).count() == 0
