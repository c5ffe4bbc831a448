"""Every address, for every role and method: who gets in. An address that is not listed here fails the first test."""

import re

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from desk import clock
from desk.incidents.models import Incident
from desk.people import roles, totp
from desk.restores import signs
from desk.restores import states as restores
from exchange_ops.policy import freezes
from tests.cases import in_turn, one_of_each
from tests.exchange_ops import rows
from wire.values import Secret

pytestmark = pytest.mark.django_db

ROLES = roles.ALL
SAFE, NOBODY, EVERYBODY = ("get",), (), ROLES
OPEN, OWN = "open to anybody", "belongs to whoever is signed in"
AUDIT, DRAFT, STOP, THAW = ("admin", "auditor"), ("operator",), ("treasury", "admin"), ("treasury",)
KEEP = ("admin",)
REREAD = ("operator", "treasury", "admin")

# Name of the address: who may GET, who may POST.
MATRIX = {
    "overview": (EVERYBODY, NOBODY),
    "withdrawals": (EVERYBODY, NOBODY),
    "withdrawals-export": (EVERYBODY, EVERYBODY),
    "payout-templates": (EVERYBODY, NOBODY),
    "payout-template": (DRAFT, NOBODY),
    "payout-template-remove": (NOBODY, DRAFT),
    "payout-template-save": (DRAFT, DRAFT),
    "payout-schedules": (EVERYBODY, NOBODY),
    "payout-schedules-export": (EVERYBODY, EVERYBODY),
    "payout-schedule-new": (DRAFT, DRAFT),
    "payout-schedule": (EVERYBODY, NOBODY),
    "payout-schedule-skip": (NOBODY, ("operator", "treasury")),
    "payout-schedule-end": (NOBODY, ("operator", "treasury")),
    "withdrawal-new": (DRAFT, DRAFT),
    "withdrawal-figures": (NOBODY, DRAFT),
    "withdrawal-payees": (NOBODY, DRAFT),
    "withdrawal-destination": (NOBODY, DRAFT),
    "payout-batch-new": (DRAFT, DRAFT),
    "payout-batch-example": (DRAFT, NOBODY),
    "payout-batch": (EVERYBODY, NOBODY),
    "withdrawal": (EVERYBODY, NOBODY),
    "evidence-of-period": (("treasury", "admin", "auditor"), NOBODY),
    "withdrawal-evidence": (("treasury", "admin", "auditor"), NOBODY),
    "withdrawal-evidence-pdf": (("treasury", "admin", "auditor"), NOBODY),
    "withdrawal-as-known": (EVERYBODY, NOBODY),
    "withdrawal-approve": (NOBODY, EVERYBODY),
    "withdrawal-reject": (NOBODY, EVERYBODY),
    "withdrawal-cancel": (NOBODY, EVERYBODY),
    "withdrawal-recall": (NOBODY, EVERYBODY),
    "withdrawal-resolve": (NOBODY, EVERYBODY),
    "withdrawal-release": (NOBODY, EVERYBODY),
    "approvals": (EVERYBODY, NOBODY),
    "action": (EVERYBODY, NOBODY),
    "selection": (THAW, THAW),
    "selection-challenge": (NOBODY, THAW),
    "selection-done": (THAW, NOBODY),
    "incident": (EVERYBODY, NOBODY),
    "incident-as-known": (EVERYBODY, NOBODY),
    "incident-acknowledge": (NOBODY, EVERYBODY),
    "incident-hand-back": (NOBODY, EVERYBODY),
    "incident-close": (NOBODY, EVERYBODY),
    "thread": (EVERYBODY, REREAD),
    "thread-take": (NOBODY, REREAD),
    "thread-files": (NOBODY, REREAD),
    "thread-file": (EVERYBODY, NOBODY),
    "funds": (EVERYBODY, NOBODY),
    "funds-currency": (EVERYBODY, NOBODY),
    "profit": (EVERYBODY, NOBODY),
    "profit-export": (EVERYBODY, NOBODY),
    "reconciliation": (EVERYBODY, NOBODY),
    "reconciliation-export": (EVERYBODY, NOBODY),
    "statements": (EVERYBODY, NOBODY),
    "statements-export": (EVERYBODY, NOBODY),
    "balances-as-known": (EVERYBODY, NOBODY),
    "statement-sign": (NOBODY, THAW),
    "statement-signed": (EVERYBODY, NOBODY),
    "statements-journal": (EVERYBODY, NOBODY),
    "journal-accounts": (EVERYBODY, KEEP),
    "journal-datev": (EVERYBODY, NOBODY),
    "journal-datev-file": (EVERYBODY, NOBODY),
    "journal-xero": (EVERYBODY, NOBODY),
    "journal-xero-file": (EVERYBODY, NOBODY),
    "deposit": (EVERYBODY, NOBODY),
    "deposit-read": (NOBODY, REREAD),
    "deposit-new": (NOBODY, DRAFT),
    "transfers": (EVERYBODY, NOBODY),
    "transfers-export": (EVERYBODY, EVERYBODY),
    "transfer-new": (DRAFT, DRAFT),
    "transfer-figures": (NOBODY, DRAFT),
    "transfer": (EVERYBODY, NOBODY),
    "transfer-approve": (NOBODY, EVERYBODY),
    "transfer-reject": (NOBODY, EVERYBODY),
    "transfer-cancel": (NOBODY, EVERYBODY),
    "transfer-close": (NOBODY, EVERYBODY),
    "transfer-reissue": (NOBODY, EVERYBODY),
    "transfer-resolve": (NOBODY, EVERYBODY),
    "orders": (EVERYBODY, NOBODY),
    "orders-export": (EVERYBODY, EVERYBODY),
    "orders-refresh": (NOBODY, DRAFT),
    "orders-cancel-all": (NOBODY, DRAFT),
    "orders-cancel-chosen": (NOBODY, DRAFT),
    "order-new": (DRAFT, DRAFT),
    "order-figures": (NOBODY, DRAFT),
    "order": (EVERYBODY, NOBODY),
    "order-cancel": (NOBODY, DRAFT),
    "order-replace": (DRAFT, DRAFT),
    "order-guard": (DRAFT, DRAFT),
    "brackets": (EVERYBODY, NOBODY),
    "brackets-export": (EVERYBODY, EVERYBODY),
    "bracket": (EVERYBODY, NOBODY),
    "bracket-end": (NOBODY, DRAFT),
    "bracket-let-go": (NOBODY, DRAFT),
    "bracket-stop": (NOBODY, DRAFT),
    "order-approve": (NOBODY, EVERYBODY),
    "order-decline": (NOBODY, EVERYBODY),
    "order-withdraw": (NOBODY, EVERYBODY),
    "margin": (EVERYBODY, NOBODY),
    "margin-open": (DRAFT, DRAFT),
    "margin-close-all": (DRAFT, DRAFT),
    "margin-figures": (NOBODY, DRAFT),
    "margin-action": (EVERYBODY, NOBODY),
    "margin-action-settle": (NOBODY, DRAFT),
    "margin-symbol": (EVERYBODY, NOBODY),
    "margin-collateral": (DRAFT, DRAFT),
    "margin-close-position": (DRAFT, DRAFT),
    "margin-close-account": (DRAFT, DRAFT),
    "ledger": (EVERYBODY, NOBODY),
    "ledger-export": (EVERYBODY, EVERYBODY),
    "ledger-record": (EVERYBODY, NOBODY),
    "ledger-record-choose": (NOBODY, EVERYBODY),
    "deposits": (EVERYBODY, NOBODY),
    "deposits-export": (EVERYBODY, EVERYBODY),
    "addresses": (EVERYBODY, NOBODY),
    "addresses-export": (EVERYBODY, EVERYBODY),
    "fills": (EVERYBODY, NOBODY),
    "fills-export": (EVERYBODY, EVERYBODY),
    "list-keep": (NOBODY, EVERYBODY),
    "list-saved": (NOBODY, EVERYBODY),
    "list-saved-change": (NOBODY, EVERYBODY),
    "keys": (AUDIT, NOBODY),
    "key": (AUDIT, NOBODY),
    "key-new": (KEEP, KEEP),
    "key-probe": (NOBODY, KEEP),
    "key-rotate": (KEEP, KEEP),
    "key-switch": (NOBODY, KEEP),
    "key-finish": (NOBODY, KEEP),
    "key-go-back": (NOBODY, KEEP),
    "key-disable": (KEEP, KEEP),
    "subaccounts": (EVERYBODY, NOBODY),
    "subaccounts-reread": (NOBODY, REREAD),
    "subaccount-freeze": (KEEP, KEEP),
    "subaccount-activate": (KEEP, KEEP),
    "subaccount": (EVERYBODY, NOBODY),
    "subaccount-settings": (NOBODY, KEEP),
    "subaccount-address": (NOBODY, REREAD),
    "subaccount-take-back": (NOBODY, KEEP),
    "markets": (EVERYBODY, NOBODY),
    "markets-find": (EVERYBODY, NOBODY),
    "market": (EVERYBODY, NOBODY),
    "market-older": (EVERYBODY, NOBODY),
    "market-star": (NOBODY, EVERYBODY),
    "chain": (EVERYBODY, NOBODY),
    "chain-block": (EVERYBODY, NOBODY),
    "chain-transaction": (EVERYBODY, NOBODY),
    "chain-address": (EVERYBODY, NOBODY),
    "chain-tokens": (EVERYBODY, NOBODY),
    "chain-token": (EVERYBODY, NOBODY),
    "chain-accounts": (EVERYBODY, NOBODY),
    "chain-tools": (EVERYBODY, NOBODY),
    "chain-tools-transaction": (EVERYBODY, EVERYBODY),
    "chain-tools-script": (EVERYBODY, EVERYBODY),
    "chain-tools-proof": (EVERYBODY, EVERYBODY),
    "chain-tools-payload": (EVERYBODY, NOBODY),
    "chain-tools-ledger": (EVERYBODY, NOBODY),
    "chain-broadcasts": (EVERYBODY, NOBODY),
    "chain-broadcast-new": (EVERYBODY, EVERYBODY),
    "chain-broadcast": (EVERYBODY, NOBODY),
    "chain-watched": (EVERYBODY, NOBODY),
    "chain-watched-new": (STOP, STOP),
    "chain-watched-address": (EVERYBODY, NOBODY),
    "chain-watched-review": (NOBODY, REREAD),
    "chain-watched-stop": (NOBODY, STOP),
    "policy": (EVERYBODY, NOBODY),
    "frozen-note": (EVERYBODY, NOBODY),
    "freeze": (NOBODY, STOP),
    "thaw": (NOBODY, THAW),
    "freeze-new": (STOP, STOP),
    "wide-freeze": (EVERYBODY, NOBODY),
    "wide-freeze-lift": (NOBODY, THAW),
    "deliveries": (AUDIT, NOBODY),
    "deliveries-export": (AUDIT, AUDIT),
    "delivery-again": (NOBODY, KEEP),
    "mailbox": (EVERYBODY, NOBODY),
    "channels": (AUDIT, NOBODY),
    "channel-add": (KEEP, KEEP),
    "channel-turn": (KEEP, KEEP),
    "channel-end": (KEEP, KEEP),
    "payees": (EVERYBODY, NOBODY),
    "payees-export": (EVERYBODY, EVERYBODY),
    "payee-import": (("operator", "treasury"), ("operator", "treasury")),
    "payee-new": (("operator", "treasury"), ("operator", "treasury")),
    "payee": (EVERYBODY, NOBODY),
    "payee-approve": (NOBODY, EVERYBODY),
    "payee-reject": (NOBODY, EVERYBODY),
    "payee-remove": (NOBODY, EVERYBODY),
    "payee-withdraw": (NOBODY, EVERYBODY),
    "policy-draft": (STOP, STOP),
    "policy-change": (EVERYBODY, NOBODY),
    "policy-change-agree": (NOBODY, STOP),
    "policy-change-end": (NOBODY, STOP),
    "policy-version": (EVERYBODY, NOBODY),
    "policy-as-known": (EVERYBODY, NOBODY),
    "going-live": (("treasury", "admin", "auditor"), NOBODY),
    "going-live-confirm": (NOBODY, KEEP),
    "going-live-test-mail": (NOBODY, KEEP),
    "going-live-trial": (NOBODY, ("treasury",)),
    "people": (AUDIT, NOBODY),
    "restore": (EVERYBODY, THAW),
    "person": (AUDIT, NOBODY),
    "person-invite": (KEEP, KEEP),
    "person-colleague": (STOP, STOP),
    "person-change": (KEEP, KEEP),
    "person-confirm": (NOBODY, KEEP),
    "person-reject": (NOBODY, KEEP),
    "person-session-end": (NOBODY, KEEP),
    "person-token-revoke": (NOBODY, KEEP),
    "audit": (EVERYBODY, NOBODY),
    "console": (EVERYBODY, NOBODY),
    "console-history": (EVERYBODY, NOBODY),
    "console-operation": (EVERYBODY, REREAD),
    "audit-export": (EVERYBODY, EVERYBODY),
    "system": (EVERYBODY, NOBODY),
    "frame": (OWN, NOBODY),
    "search": (EVERYBODY, NOBODY),
    "palette": (EVERYBODY, NOBODY),
    "api-withdrawals": (EVERYBODY, DRAFT),
    "api-withdrawal": (EVERYBODY, NOBODY),
    "api-orders": (EVERYBODY, DRAFT),
    "api-order": (EVERYBODY, NOBODY),
    "api-order-cancel": (NOBODY, DRAFT),
    "api-brackets": (EVERYBODY, NOBODY),
    "api-bracket": (EVERYBODY, NOBODY),
    "api-bracket-end": (NOBODY, DRAFT),
    "api-order-withdraw": (NOBODY, DRAFT),
    "api-trades": (EVERYBODY, NOBODY),
    "api-margin": (EVERYBODY, NOBODY),
    "api-margin-actions": (EVERYBODY, DRAFT),
    "api-margin-action": (EVERYBODY, NOBODY),
    "api-transfers": (EVERYBODY, DRAFT),
    "api-transfer": (EVERYBODY, NOBODY),
    "api-transfer-cancel": (NOBODY, DRAFT),
    "api-funds": (EVERYBODY, NOBODY),
    "api-deposit-addresses": (EVERYBODY, DRAFT),
    "api-ledger": (EVERYBODY, NOBODY),
    "api-balances": (EVERYBODY, NOBODY),
    "api-currencies": (EVERYBODY, NOBODY),
    "api-subaccounts": (EVERYBODY, NOBODY),
    "api-subaccount": (EVERYBODY, NOBODY),
    "api-subaccount-actions": (EVERYBODY, NOBODY),
    "api-keys": (AUDIT, NOBODY),
    "api-key": (AUDIT, NOBODY),
    "api-markets": (EVERYBODY, NOBODY),
    "api-market": (EVERYBODY, NOBODY),
    "api-market-candles": (EVERYBODY, NOBODY),
    "api-market-trades": (EVERYBODY, NOBODY),
    "api-market-book": (EVERYBODY, NOBODY),
    "api-chain-tip": (EVERYBODY, NOBODY),
    "api-chain-block": (EVERYBODY, NOBODY),
    "api-chain-transaction": (EVERYBODY, NOBODY),
    "api-chain-address": (EVERYBODY, NOBODY),
    "api-chain-watched": (EVERYBODY, STOP),
    "api-chain-watched-address": (EVERYBODY, NOBODY),
    "api-chain-watched-stop": (NOBODY, STOP),
    "api-chain-movements": (EVERYBODY, NOBODY),
    "api-chain-movements-review": (NOBODY, REREAD),
    "schema": (EVERYBODY, NOBODY),
    "api-docs": (EVERYBODY, NOBODY),
    "healthz": (OPEN, NOBODY),
    "readyz": (OPEN, NOBODY),
    "metrics": (OPEN, NOBODY),
    "csp-reports": (NOBODY, OPEN),
    "step_up_challenge": (NOBODY, OWN),
    "sessions": (OWN, NOBODY),
    "notifications": (OWN, OWN),
    "tokens": (OWN, OWN),
    "personal-settings": (OWN, OWN),
    "tour": (NOBODY, OWN),
    "token-revoke": (NOBODY, OWN),
    "session-end": (NOBODY, OWN),
    "company-account": (OWN, NOBODY),
    "company-connect": (NOBODY, OWN),
    "company-disconnect": (NOBODY, OWN),
}
# What stands in an address for a part that is no row of ours.
PATH_PARTS = {
    "<slug:currency>": "BCH",
    "<str:currency>": "BCH",
    "<str:symbol>": "BCHUSD",
    "<slug:kind>": "move",
    "<block:named>": "7",
    "<hash:txid>": "ab" * 32,
    "<coin_address:text>": rows.ADDRESS,
    "<slug:token_id>": "4",
    "<slug:change>": "set-up-app",
    "<slug:name>": "withdrawal",
    "<slug:service>/<slug:operation>": "exchange/get_balances",
    "<slug:form>": "csv",
    "<slug:list_name>": "ledger",
}
# The pages of the sign-in library: open ones, and those that belong to whoever is signed in.
SIGN_IN = {"begin", "account_login", "account_inactive", "mfa_authenticate", "mfa_login_webauthn"}
SIGN_IN |= {"company-sign-in", "company-callback"}
OWN_PAGES = {
    "account_logout",
    "account_reauthenticate",
    "mfa_reauthenticate",
    "account_change_password",
    "mfa_index",
    "mfa_activate_totp",
    "mfa_deactivate_totp",
    "mfa_view_recovery_codes",
    "mfa_generate_recovery_codes",
    "mfa_download_recovery_codes",
    "mfa_list_webauthn",
    "mfa_add_webauthn",
    "mfa_reauthenticate_webauthn",
    "mfa_remove_webauthn",
    "mfa_edit_webauthn",
    "factor-confirm",
}


def addresses(patterns=None, prefix="/"):
    """Every address with its name; a converter becomes a key that a row of the test can have."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        place = prefix + re.sub(r"<int:[a-z_]+>", "{key}", str(pattern.pattern))
        place = place.replace("/change/<slug:kind>", "/change/roles")
        for part, value in PATH_PARTS.items():
            place = place.replace(part, value)
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, place)
        elif isinstance(pattern, URLPattern):
            yield pattern.name, place


ADDRESSES = dict(addresses())


def test_every_address_is_listed_here():
    assert set(ADDRESSES) == set(MATRIX) | SIGN_IN | OWN_PAGES
    assert not [path for path in ADDRESSES.values() if re.search(r"[<(\[]", path)]


@pytest.fixture
def place(operator, payable):
    row = rows.held(operator, now=clock.now())
    rows.subaccount(row.pk, now=clock.now())
    rows.currency(now=clock.now(), transfer_enabled=True)
    moved = rows.transfer(operator, kind="to_user", now=clock.now())
    margin = rows.margin_action(operator, now=clock.now())
    rows.margin_position(now=clock.now())

    freezes.freeze(person=None, reason="A drill.", account=row.account, now=clock.now())
    frozen = Incident.objects.get()
    restore = signs.notice(signs.Sign(restores.HEADS), now=clock.now())

    def place(name):
        key = moved.pk if name.removeprefix("api-").startswith("transfer") else row.pk
        key = margin.pk if name.startswith("margin-action") else key
        key = frozen.pk if name.startswith("incident") else key
        key = operator.pk if name.startswith("person") else key
        key = restore.pk if name == "restore" else key
        return ADDRESSES[name].replace("{key}", str(key))

    return place


def person_of(role, make_person, operator):
    return operator if role == "operator" else make_person(role, username=f"a-{role}")


def expected(rule, role):
    return rule in (OPEN, OWN) or role in rule


def rules_of(name):
    """GET and POST, each with the rule for it."""
    return zip(("get", "post"), MATRIX[name], strict=True)


def takes_part(role, name, method, *, loop):
    """Whether this role asks for the address in this run: in `make test` one that may and one that may not, in turn."""
    rule = dict(rules_of(name))[method]
    return role in one_of_each(ROLES, by=lambda one: expected(rule, one), loop=f"{loop} {method} {name}")


@pytest.mark.every(2, "every address as every role")
@pytest.mark.parametrize("role", ROLES)
def test_who_gets_in(role, place, make_person, operator, signed_in):
    client = signed_in(person_of(role, make_person, operator))
    for name in sorted(MATRIX):
        for method, rule in rules_of(name):
            if not takes_part(role, name, method, loop="gets in"):
                continue
            status = getattr(client, method)(place(name)).status_code
            label = f"{method} {name} as {role}: {status}"
            if expected(rule, role):
                assert status not in {401, 403, 405}, label
                assert status < 500 or name == "readyz", label
            else:
                assert status in {401, 403, 404, 405}, label


def test_somebody_without_a_role_sees_nothing_of_the_account(place, make_person, signed_in):
    client = signed_in(make_person(username="newcomer"))
    for name in sorted(MATRIX):
        for method, rule in rules_of(name):
            status = getattr(client, method)(place(name)).status_code
            assert (status in {403, 405}) == (rule not in (OPEN, OWN)), f"{method} {name}: {status}"


def test_a_stranger_is_asked_to_sign_in(place):
    for name in sorted(set(MATRIX) | OWN_PAGES):
        for method in ("get", "post"):
            response = getattr(Client(), method)(place(name))
            label = f"{method} {name}: {response.status_code}"
            if method == "get" and MATRIX.get(name, ("",))[0] == OPEN:
                assert response.status_code in {200, 503}, label
            elif (method, name) == ("post", "csp-reports"):
                assert response.status_code == 400, label
            elif "/api/" in place(name) and name != "api-docs":
                assert response.status_code == 401, label
                assert "Bearer" in response["WWW-Authenticate"]
            else:
                sent_on = response.status_code == 302 and response["Location"].startswith("/sign-in/")
                left = name == "account_logout" and response.status_code == 302
                assert sent_on or left or response.status_code == 405, label


METHODS = ("get", "head", "post", "put", "patch", "delete", "options", "trace")


def test_a_wrong_method_is_told_so_and_leads_nowhere(place, admin, signed_in):
    """Whoever has every right: each address takes what it says in Allow, and answers everything else with 405.

    `make test` sends one wrong method to each address, and the right ones to a few: `test_who_gets_in` does too.
    """
    from django.contrib.auth.models import Group

    admin.groups.set(Group.objects.all())
    client = signed_in(admin)
    asked_rightly = in_turn(sorted(MATRIX))
    for name in sorted(MATRIX):
        reading, writing = MATRIX[name]
        takes = {"get", "head"} if reading else set()
        takes |= {"post"} if writing else set()
        takes |= {"options"} if (name.startswith("api-") and name != "api-docs") or name == "schema" else set()
        wrong = in_turn([method for method in METHODS if method not in takes], loop=name)
        for method in [*wrong, *(sorted(takes) if name in asked_rightly else ())]:
            response = getattr(client, method)(place(name), secure=True)
            label = f"{method} {name}: {response.status_code}"
            if method in takes:
                assert response.status_code != 405, label
            else:
                assert response.status_code == 405, label
                assert {each.lower() for each in response["Allow"].split(", ")} == takes, (
                    f"{label}: {response['Allow']}"
                )


def test_the_pages_of_the_sign_in_library_take_no_other_method(admin, signed_in):
    """They read a PUT as a form, and led whoever is signed in from sign-in to the overview."""
    totp.enrol(admin, Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"))
    ours = {"begin", "factor-confirm", "company-sign-in", "company-callback"}
    for client, names in ((signed_in(admin), SIGN_IN | OWN_PAGES - ours), (Client(), SIGN_IN - ours)):
        for name in sorted(names - ours):
            for method in ("put", "patch", "delete", "options", "trace"):
                answer = getattr(client, method)(ADDRESSES[name].replace("{key}", "1"), secure=True)
                assert (answer.status_code, "POST" in answer.get("Allow", "")) == (405, name != "mfa_index"), (
                    method,
                    name,
                )


def test_a_stranger_learns_nothing_from_a_wrong_method(place):
    """Rows that are there and rows that are not, right methods and wrong ones: one and the same answer."""
    for name in sorted(set(MATRIX)):
        if OPEN in MATRIX[name]:
            continue
        there = place(name)
        absent = re.sub(r"/\d+/", "/987654/", there)
        for method in in_turn(METHODS, always=lambda method: method in {"get", "post"}, loop=name):
            answers = {
                (found.status_code, found.get("Location", "").partition("?")[0], found.get("Allow", ""))
                for found in (getattr(Client(), method)(path, secure=True) for path in (there, absent))
            }
            assert len(answers) == 1, f"{method} {name}: {answers}"
            assert next(iter(answers))[0] in {302, 401}, f"{method} {name}: {answers}"


def test_who_signs_in_again_in_front_of_a_decision_comes_back_to_its_page(place):
    facts = Client().post(
        place("withdrawal-approve"), headers={"Referer": "https://testserver/withdrawals/1/?a=b"}, secure=True
    )
    assert facts["Location"] == "/sign-in/?next=%2Fwithdrawals%2F1%2F%3Fa%3Db&unsent=yes"
    for elsewhere in (
        "https://evil.example/withdrawals/1/",
        "//evil.example/",
        "https://testserver//evil.example/",
        "",
    ):
        facts = Client().post(place("withdrawal-approve"), headers={"Referer": elsewhere}, secure=True)
        assert facts["Location"] == "/sign-in/?next=%2F&unsent=yes", elsewhere


@pytest.mark.parametrize("site", ["cross-site", "same-site", "something-new"])
def test_another_sites_page_can_send_nothing(site, place, admin, signed_in):
    from django.contrib.auth.models import Group

    admin.groups.set(Group.objects.all())
    client = signed_in(admin)
    # One middleware refuses all of them alike, in front of every address.
    names = sorted(set(MATRIX) - {"csp-reports"})
    for name in in_turn(names, always=lambda name: site == "cross-site", loop=site):
        for method in ("post", "delete"):
            response = getattr(client, method)(place(name), headers={"Sec-Fetch-Site": site})
            assert response.status_code == 403, f"{method} {name}: {response.status_code}"
    assert client.post("/sign-in/", headers={"Sec-Fetch-Site": site}).status_code == 403
    assert client.get("/", headers={"Sec-Fetch-Site": site}).status_code == 200


@pytest.mark.parametrize("site", ["same-origin", "none", None])
def test_our_own_pages_can_and_the_token_is_still_asked_for(site, place, treasury, signed_in):
    members = {"Sec-Fetch-Site": site} if site else {}
    assert signed_in(treasury).post(place("withdrawal-approve"), headers=members).status_code == 422
    checked = signed_in(treasury, enforce_csrf_checks=True)
    assert checked.post(place("withdrawal-approve"), headers=members).status_code == 403


def test_no_answer_is_kept_by_a_cache(place, admin, signed_in):
    """Pages, parts, answers to programs, files, refusals, sign-in: for strangers and for who may see everything."""
    from django.contrib.auth.models import Group

    admin.groups.set(Group.objects.all())
    for client in (Client(), signed_in(admin)):
        for name in sorted(set(MATRIX) | SIGN_IN | OWN_PAGES):
            for method in ("get", "post"):
                response = getattr(client, method)(place(name))
                assert "no-store" in response["Cache-Control"], f"{method} {name}"
        for path in ("/nowhere/", "/withdrawals", "/api/v1/nowhere"):
            assert "no-store" in client.get(path)["Cache-Control"], path


def test_a_form_of_another_site_is_refused(place, treasury, signed_in):
    client = signed_in(treasury, enforce_csrf_checks=True)
    for name in sorted(name for name, (_, writing) in MATRIX.items() if writing and writing != OPEN):
        response = client.post(place(name), HTTP_ORIGIN="https://elsewhere.example")
        assert response.status_code == 403, name
        assert any(words in response.content for words in (b"Nothing was ", b"No changes made")), name


@pytest.mark.parametrize("role", ["admin", "auditor", "operator"])
def test_who_may_not_decide_changes_nothing(role, place, make_person, operator, signed_in):
    from exchange_ops.withdrawals.models import Approval, Withdrawal

    client = signed_in(person_of(role, make_person, operator))
    before = list(Withdrawal.objects.values_list("pk", "state", "version"))
    row = Withdrawal.objects.get()
    for name in ("approve", "reject", "recall", "resolve"):
        seen = {
            "digest": row.digest,
            "code": "123456",
            f"{name}-reason": "because",
            "verdict": "paid",
            "comment": "seen",
        }
        response = client.post(f"/withdrawals/{row.pk}/{name}/", seen)
        assert response.status_code in {409, 422}, name
    assert list(Withdrawal.objects.values_list("pk", "state", "version")) == before
    assert not Approval.objects.exists()
