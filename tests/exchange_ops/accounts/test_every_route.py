"""Every address, for people whose role is limited to one of two accounts: of the other one nothing is there."""

import pytest
from django.test import Client

from desk import clock
from desk.notifications import finding
from desk.notifications.models import Notification
from desk.people import roles, tokens
from desk.people.scopes import set_grants
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals.models import Withdrawal
from tests.cases import in_turn
from tests.exchange_ops.pages.test_routes import ADDRESSES, MATRIX, OPEN, takes_part
from tests.exchange_ops.pages.test_several_accounts import MARK, owned_rows, place, two  # noqa: F401  # a fixture

pytestmark = pytest.mark.django_db

# What is the whole desk's: nobody opens it whose role is limited to accounts.
DESK_WIDE = {
    "api-chain-movements-review",
    "api-chain-watched-stop",
    "chain-watched-new",
    "chain-watched-review",
    "chain-watched-stop",
    "channel-add",
    "channel-end",
    "channel-turn",
    "channels",
    "deliveries",
    "deliveries-export",
    "delivery-again",
    "freeze-new",
    "going-live",
    "going-live-confirm",
    "going-live-test-mail",
    "going-live-trial",
    "people",
    "person",
    "person-change",
    "person-confirm",
    "person-invite",
    "person-colleague",
    "person-reject",
    "person-session-end",
    "person-token-revoke",
    "restore",
}


@pytest.fixture
def marked(two):  # noqa: F811
    """The two accounts, of which the first one's name is marked as well."""
    first, second, ids = two
    Account.objects.filter(pk=first.pk).update(name=f"{MARK} account")
    first.refresh_from_db()
    return first, second, ids


@pytest.fixture
def of_one(make_person):
    """`of_one("treasury", account)`: somebody who holds the role there alone; everywhere without an account."""

    def make(role, account=None):
        limits = f" {role}:{account.pk} " if account else ""
        return make_person(role, username=f"{role}-of-{account.pk if account else 'all'}", limits=limits)

    return make


def answer_of(client, name, path, method):
    response = getattr(client, method)(path)
    assert response.status_code < 500, f"{method} {name}: {response.status_code}"
    page = b"".join(response) if response.streaming else response.content
    return response.status_code, page.decode(errors="replace")  # the evidence of a payout is no text


def closed_routes():
    return [name for name in sorted(MATRIX) if MATRIX[name][0] != OPEN]


@pytest.mark.every(3, "every address as every role")
@pytest.mark.parametrize("role", roles.ALL)
def test_every_address_of_the_other_account_is_not_found(role, marked, of_one, operator, signed_in):
    first, second, ids = marked
    client, before = signed_in(of_one(role, second)), owned_rows(first)
    for name in closed_routes():
        path = place(name, ids, operator)
        if path.startswith(("/healthz", "/readyz", "/metrics")):
            continue
        for method in ("get", "post"):
            if not takes_part(role, name, method, loop="the other account"):
                continue
            status, page = answer_of(client, name, f"/accounts/{first.pk}{path}", method)
            assert status == 404, f"{method} {name} as {role}: {status}"
            assert MARK not in page, name
    assert owned_rows(first) == before


OF_FIRST = ("withdrawal", "transfer", "margin-action", "key-")  # what `two` made for the first account alone


@pytest.mark.every(3, "every address as every role")
@pytest.mark.parametrize("role", roles.ALL)
def test_no_page_without_an_account_shows_the_other_one(role, marked, of_one, operator, signed_in):
    first, second, ids = marked
    client, before, wrong = signed_in(of_one(role, second)), owned_rows(first), []
    for name in closed_routes():
        is_shut = name in DESK_WIDE or ("{key}" in ADDRESSES[name] and name.removeprefix("api-").startswith(OF_FIRST))
        for method in ("get", "post"):
            if not takes_part(role, name, method, loop="no account"):
                continue
            status, page = answer_of(client, name, place(name, ids, operator), method)
            if MARK in page or (is_shut and status not in {403, 404, 405}):
                wrong.append(f"{method} {name}: {status}, {page[max(page.find(MARK) - 90, 0) :][:180]}")
    assert wrong == []
    assert owned_rows(first) == before


@pytest.mark.every(3, "every address as every role")
@pytest.mark.parametrize("role", roles.ALL)
def test_at_ones_own_account_every_address_answers_as_for_an_unlimited_person(
    role, marked, of_one, operator, signed_in
):
    first, _, ids = marked
    limited, unlimited = signed_in(of_one(role, first)), signed_in(of_one(role))
    for name in closed_routes():
        if name in DESK_WIDE or name.startswith(("token", "account", "mfa", "mailbox")) or name == "sign-out":
            continue
        if not takes_part(role, name, "get", loop="one's own account"):
            continue  # in `make test` each address is asked by one role that may and one that may not
        there = f"/accounts/{first.pk}{place(name, ids, operator)}"
        own, usual = answer_of(limited, name, there, "get")[0], answer_of(unlimited, name, there, "get")[0]
        assert own == usual, f"{name} as {role}: {own}, and {usual} without a limit"


def test_a_token_acts_within_the_accounts_of_its_person(marked, of_one, operator):
    first, second, ids = marked
    several = ("operator", "admin", "auditor")
    for role in several:
        secret = tokens.create(person=of_one(role, second), name="x", now=clock.now())[1].reveal()
        client, before = Client(headers={"Authorization": f"Bearer {secret}"}), owned_rows(first)
        for name in sorted(name for name in MATRIX if name.startswith("api-") and name != "api-docs"):
            if role not in in_turn(several, loop=name):
                continue
            for prefix in (f"/accounts/{first.pk}", ""):
                for method in ("get", "post"):
                    status, page = answer_of(client, name, f"{prefix}{place(name, ids, operator)}", method)
                    assert MARK not in page, name
                    if prefix or (name.startswith("api-withdrawal") and "{key}" in ADDRESSES[name]):
                        assert status in {403, 404, 405}, f"{method} {name}: {status}"
        assert owned_rows(first) == before
        own = client.get(f"/accounts/{second.pk}/api/v1/withdrawals/")
        assert (own.status_code, own.json()["items"]) == (200, [])


def test_a_forged_post_asks_for_nothing_at_the_other_account(marked, of_one, signed_in):
    first, second, _ = marked
    client, before = signed_in(of_one("operator", second)), Withdrawal.objects.count()
    form = {"currency": "BCH", "amount": "1", "address": "x", "reason": "y", "request_key": "k", "account": first.pk}
    assert client.post(f"/accounts/{first.pk}/withdrawals/new/", form).status_code == 404
    client.post("/withdrawals/new/", form)
    assert Withdrawal.objects.filter(account=first).count() == before


def test_who_is_of_one_account_has_a_desk_of_one(marked, of_one, signed_in):
    _, second, _ = marked
    client = signed_in(of_one("treasury", second))
    page = client.get("/funds/")
    assert page.status_code == 200
    assert 'class="switch"' not in page.content.decode()
    assert client.get("/orders/").status_code == 200
    assert signed_in(of_one("treasury")).get("/orders/").status_code == 302
    assert client.get(f"/accounts/{second.pk}/orders/").status_code == 200


def test_a_role_of_one_account_does_not_open_pages_of_another(marked, make_person, signed_in):
    first, second, ids = marked
    person = make_person("operator", "treasury", username="both", limits=f" operator:{second.pk} ")
    client = signed_in(person)
    assert client.get(f"/accounts/{first.pk}/withdrawals/new/").status_code == 403
    assert client.get(f"/accounts/{second.pk}/withdrawals/new/").status_code == 200
    assert "New withdrawal" not in client.get(f"/accounts/{first.pk}/withdrawals/").content.decode()
    assert client.get(f"/accounts/{first.pk}/withdrawals/{ids['withdrawal']}/").status_code == 200


def test_topics_of_the_other_account_are_refused(marked, of_one):
    from desk import topics

    first, second, ids = marked
    keys = {"subaccount": first.subaccounts.get().pk, "ledger": first.pk, "balances": first.pk, "addresses": first.pk}
    keys |= {"withdrawal": ids["withdrawal"], "transfer": ids["transfer"], "marginaction": ids["margin-action"]}
    stranger, own, everybody = of_one("auditor", second), of_one("auditor", first), of_one("auditor")
    for name, key in keys.items():
        found = [topics.admits(person, f"{name}:{key}") for person in (stranger, own, everybody)]
        assert found == [False, True, True], name
    assert [topics.admits(who, f"incident:{ids['incident']}") for who in (stranger, own)] == [False, True]
    assert topics.admits(stranger, f"balances:{second.pk}")
    assert not topics.admits(stranger, f"balances:{'9' * 30}")
    assert not topics.admits(stranger, "people")


def test_a_topic_is_left_when_the_account_is_lost(marked, of_one):
    from desk import topics

    first, second, _ = marked
    person = of_one("treasury")
    assert topics.admits(person, f"ledger:{first.pk}")
    set_grants(person, [f"treasury:{second.pk}"])
    assert not topics.admits(person, f"ledger:{first.pk}")


def test_only_people_of_the_account_are_notified(marked, of_one):
    first, second, _ = marked
    here, there, everywhere = of_one("treasury", first), of_one("treasury", second), of_one("treasury")
    finding.notify_due(now=clock.now())
    assert Notification.objects.exists()
    for row in Notification.objects.all():
        people = set(row.recipients.values_list("person__username", flat=True))
        assert there.username not in people
        assert people <= {here.username, everywhere.username}
