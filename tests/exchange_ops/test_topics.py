"""Every topic that a browser may follow, for every role: one that is not listed here fails."""

import pytest

from desk import clock, rooms, topics
from desk.incidents.models import Incident
from desk.people import roles
from exchange_ops.policy import freezes
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db

EVERYBODY = frozenset(roles.ALL)
AUDIT = frozenset({roles.ADMIN, roles.AUDITOR})
# What comes after the name: nothing, the number of a row, a word, one's own number, the chain's tip.
NOTHING, ROW, WORD, OWN, TIP = "nothing", "row", "word", "own", "tip"
OF_THE_DESK, OF_ROWS, OF_WORDS = {NOTHING}, {ROW}, {ROW, WORD}
# Of each topic: who may follow it, and in which forms.
MATRIX = {
    "approvals": (EVERYBODY, OF_THE_DESK),
    "chain-broadcasts": (EVERYBODY, OF_THE_DESK),
    "deliveries": (AUDIT, OF_THE_DESK),
    "freezes": (EVERYBODY, OF_THE_DESK),
    "incidents": (EVERYBODY, OF_THE_DESK),
    "keys": (AUDIT, OF_THE_DESK),
    "margin": (EVERYBODY, OF_THE_DESK),
    "market": (EVERYBODY, OF_THE_DESK),
    "orders": (EVERYBODY, OF_THE_DESK),
    "people": (AUDIT, OF_THE_DESK),
    "payees": (EVERYBODY, OF_THE_DESK),
    "payout-schedules": (EVERYBODY, OF_THE_DESK),
    "statements": (EVERYBODY, OF_THE_DESK),
    "policy": (EVERYBODY, OF_THE_DESK),
    "restores": (EVERYBODY, OF_THE_DESK),
    "subaccounts": (EVERYBODY, OF_THE_DESK),
    "system": (EVERYBODY, OF_THE_DESK),
    "threads": (EVERYBODY, OF_THE_DESK),
    "transfers": (EVERYBODY, OF_THE_DESK),
    "watched-addresses": (EVERYBODY, OF_THE_DESK),
    "withdrawals": (EVERYBODY, OF_THE_DESK),
    "addresscheck": (EVERYBODY, OF_ROWS),
    "addresses": (EVERYBODY, OF_ROWS),
    "balances": (EVERYBODY, OF_ROWS),
    "chain-broadcast": (EVERYBODY, OF_ROWS),
    "consolecall": (EVERYBODY, OF_ROWS),
    "feeestimate": (EVERYBODY, OF_ROWS),
    "portfolio": (EVERYBODY, OF_ROWS),
    "incident": (EVERYBODY, OF_ROWS),
    "ledger": (EVERYBODY, OF_ROWS),
    "marginaction": (EVERYBODY, OF_ROWS),
    "bracket": (EVERYBODY, OF_ROWS),
    "order": (EVERYBODY, OF_ROWS),
    "payee": (EVERYBODY, OF_ROWS),
    "policychange": (EVERYBODY, OF_ROWS),
    "subaccount": (EVERYBODY, OF_ROWS),
    "transfer": (EVERYBODY, OF_ROWS),
    "watched-address": (EVERYBODY, OF_ROWS),
    "withdrawal": (EVERYBODY, OF_ROWS),
    "book": (EVERYBODY, OF_WORDS),
    "candles": (EVERYBODY, OF_WORDS),
    "chain-answer": (EVERYBODY, OF_WORDS),
    "history": (EVERYBODY, OF_WORDS),
    "symbol": (EVERYBODY, OF_WORDS),
    "trades": (EVERYBODY, OF_WORDS),
    "chain": (EVERYBODY, {TIP}),
    "change": (AUDIT, {NOTHING, ROW, WORD}),
    "restore": (EVERYBODY, {NOTHING, ROW, WORD}),
    "notifications": (EVERYBODY, {OWN}),
}


@pytest.fixture
def incident(operator, payable):
    row = rows.held(operator, now=clock.now())
    freezes.freeze(person=None, reason="A drill.", account=row.account, now=clock.now())
    return Incident.objects.get()


def forms_of(person, name, incident):
    # No row of this number is asked for: a hint says nothing, and the page that it is about asks again.
    number = incident.pk if name == "incident" else 987_654
    forms = {NOTHING: name, ROW: f"{name}:{number}", WORD: f"{name}:BCHUSD", OWN: f"{name}:{person.pk}"}
    forms |= {TIP: "chain:tip"} if name == "chain" else {}
    found = {form for form, topic in forms.items() if topics.admits(person, topic)}
    return found - ({OWN} if ROW in found else set())


def test_every_declared_topic_is_listed_here():
    assert {name for room in rooms._declared for name in room.topics} == set(MATRIX)


@pytest.mark.parametrize("name", MATRIX)
def test_who_may_follow_it_and_by_which_name(name, incident, make_person):
    who, forms = MATRIX[name]
    for role in roles.ALL:
        person = make_person(role, username=f"a-{role}")
        assert forms_of(person, name, incident) == (forms if role in who else set()), role
    assert forms_of(make_person(username="newcomer"), name, incident) == set()
    gone = make_person(*roles.ALL, username="gone", is_active=False)
    assert forms_of(gone, name, incident) == set()
