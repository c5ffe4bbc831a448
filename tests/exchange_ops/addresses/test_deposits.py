"""Addresses to pay in to: read as the exchange tells them, kept for ever, and a new one asked for once."""

from datetime import timedelta
from functools import partial

import pytest

from desk import clock
from desk.models import AuditEvent
from exchange_ops.addresses import deposits, requests, tasks
from exchange_ops.addresses.models import AddressBook, AddressRequest, DepositAddress
from exchange_ops.addresses.states import OPEN_REQUESTS, REQUEST_STATES, TABLE
from exchange_ops.keys import store as keys
from exchange_ops.market.models import Currency
from exchange_ops.withdrawals.models import ExternalCall
from tests.exchange_ops.withdrawals import test_concurrency

pytestmark = [pytest.mark.django_db(transaction=True)]
CODE = "BTC"


def at_once(*acts):
    """The acts in threads that start together; one that is refused is an answer as well."""
    return test_concurrency.at_once(*[partial(_answered, act) for act in acts])


def _answered(act):
    try:
        return act()
    except requests.CannotAsk as refusal:
        return str(refusal)


def read(walk, code=CODE):
    row = deposits.ask(account=walk.account, currency=code, person=walk.operator, now=clock.now(), anew=True)
    tasks.read_addresses(row.pk)
    row.refresh_from_db()
    return row


def ask(walk, code=CODE, *, key="key-of-a-form", now=None, person=None):
    return requests.request(
        initiator=person or walk.operator,
        account=walk.account,
        currency=code,
        request_key=key,
        now=now or clock.now(),
        session_key="a-session",
    )


def step(row, *, at=None):
    """One step as if its time had come."""
    past = clock.now() - timedelta(seconds=1)
    AddressRequest.objects.filter(pk=row.pk).exclude(next_action_at=None).update(next_action_at=past)
    AddressRequest.objects.filter(pk=row.pk).exclude(lease_until=None).update(lease_until=past)
    requests.advance(row.pk, now=at or clock.now(), client_for=keys.client_for)
    row.refresh_from_db()
    return row


def made_at_exchange(walk, client_as):
    return client_as().get_deposit_addresses(currency=CODE).records


def asked_for(walk):
    """How often the exchange was asked to make one."""
    return len(walk.sandbox.control("calls?operation=create_deposit_address", method="GET")["calls"])


def test_the_addresses_are_read_with_what_stands_beside_them(walk, client_as):
    for code in (CODE, "XRP"):
        book = read(walk, code)
        assert (book.problem, book.answered_at is not None, book.read_at is not None) == ("", True, True)
        facts = client_as().get_deposit_address(currency=code)
        current = DepositAddress.objects.get(currency=code, is_current=True)
        assert (current.address, current.payment_id) == (facts.address, facts.payment_id or "")
        assert current.place == 1
    assert DepositAddress.objects.get(currency="XRP", is_current=True).payment_id


def test_an_address_that_leaves_the_list_of_ten_is_kept(walk, client_as):
    read(walk)
    first = DepositAddress.objects.get(is_current=True)
    for _ in range(2):
        for _ in range(5):
            client_as().create_deposit_address(currency=CODE)
        walk.sandbox.control("clock", {"advance_ms": 25 * 3_600_000})
    read(walk)
    first.refresh_from_db()
    assert (first.place, first.is_current) == (None, False)
    assert DepositAddress.objects.count() == 11
    listed = [row.address for row in DepositAddress.objects.exclude(place=None).order_by("place")]
    assert listed == [record.address for record in made_at_exchange(walk, client_as)]
    assert DepositAddress.objects.get(is_current=True).place == 1


def test_the_addresses_withdrawn_to_are_listed(walk):
    row = walk.until(walk.committing(), "committed", "sent", "settled")
    assert read(walk).used[0] == {"address": row.address, "payment_id": ""}


def test_a_question_is_asked_once_while_its_answer_is_fresh(walk):
    now = clock.now()
    row = deposits.ask(account=walk.account, currency=CODE, person=walk.operator, now=now)
    tasks.read_addresses(row.pk)
    again = deposits.ask(account=walk.account, currency=CODE, person=walk.operator, now=now + timedelta(seconds=20))
    assert (again.pk, again.answered_at is not None) == (row.pk, True)
    later = deposits.ask(account=walk.account, currency=CODE, person=walk.operator, now=now + timedelta(seconds=90))
    assert later.answered_at is None
    assert AddressBook.objects.count() == 1


@pytest.mark.parametrize("operation", ["get_deposit_address", "get_deposit_addresses", "get_used_addresses"])
def test_a_reading_that_fails_says_so_and_forgets_nothing(walk, operation):
    read(walk)
    before = list(DepositAddress.objects.values_list("address", "place", "is_current"))
    read_at = AddressBook.objects.get().read_at
    walk.fault(operation, "status", times=9, status=500)
    book = read(walk)
    assert "not reachable at the moment" in book.problem or "No response from the exchange" in book.problem
    assert book.read_at == read_at
    assert list(DepositAddress.objects.values_list("address", "place", "is_current")) == before


def test_a_currency_without_deposits_has_no_current_address_and_says_why(walk):
    book = read(walk, "USD")
    assert "has no current address" in book.problem
    assert not DepositAddress.objects.filter(currency="USD").exists()


def test_a_new_address_is_asked_for_once_and_becomes_the_current_one(walk, client_as):
    read(walk)
    old = DepositAddress.objects.get(is_current=True)
    row = ask(walk)
    assert (row.state, asked_for(walk)) == ("asked", 0)
    assert ask(walk).pk == row.pk, "the same form again is the same request"
    step(row)
    assert row.state == "made"
    assert asked_for(walk) == 1
    assert (row.made.address, row.made.is_current) == (made_at_exchange(walk, client_as)[0].address, True)
    assert row.made.address != old.address
    step(row)
    assert asked_for(walk) == 1, "a task delivered twice asks once"
    book = AddressBook.objects.get()
    assert book.answered_at is None, "the list is to be read again"
    tasks.read_addresses(book.pk)
    old.refresh_from_db()
    assert (old.is_current, old.place) == (False, 2)
    trail = list(
        AuditEvent.objects.filter(subject=row.subject).order_by("seq").values_list("action", "actor__username")
    )
    assert trail == [
        ("addressrequest.asked", walk.operator.username),
        ("addressrequest.sending", None),
        ("addressrequest.made", None),
    ]


def test_the_sixth_of_a_day_is_refused_before_anything_is_sent_and_the_sentence_says_when(walk):
    now = clock.now()
    for number in range(5):
        assert step(ask(walk, key=f"form-{number}")).state == "made"
    assert requests.remaining_today(account=walk.account, currency=CODE, now=now) == 0
    with pytest.raises(requests.CannotAsk, match="at most 5 new") as refused:
        ask(walk, key="one-too-many")
    assert f"{requests.next_at(account=walk.account, currency=CODE, now=now):%H:%M:%S} UTC" in str(refused.value)
    assert str(refused.value).startswith("No new address was requested.")
    assert asked_for(walk) == 5
    assert ask(walk, "ETH", key="another currency").state == "asked"
    late = now + timedelta(hours=24, minutes=1)
    assert ask(walk, key="the next day", now=late).state == "asked"


def test_the_exchange_counts_those_made_elsewhere_and_its_refusal_is_told(walk, client_as):
    for _ in range(5):
        client_as().create_deposit_address(currency=CODE)
    row = step(ask(walk))
    assert (row.state, row.error_code) == ("refused", 20003)
    assert "at most 5 new addresses per 24 hours" in row.last_problem
    assert row.sentence.startswith("No new address was created")


@pytest.mark.parametrize(
    ("kind", "more"), [("drop_after", {}), ("cut_body", {}), ("html", {}), ("status", {"status": 504})]
)
def test_a_lost_answer_is_resolved_by_the_list_and_never_asked_again(walk, client_as, kind, more):
    row = ask(walk)
    walk.fault("create_deposit_address", kind, **more)
    step(row)
    assert row.state == "unknown"
    with pytest.raises(requests.CannotAsk, match="is still pending"):
        ask(walk, key="somebody else")
    step(row)
    executed = [
        call["executed"]
        for call in walk.sandbox.control("calls?operation=create_deposit_address", method="GET")["calls"]
    ]
    assert len(executed) == 1
    if executed[0]:
        assert (row.state, row.made.address) == ("made", made_at_exchange(walk, client_as)[0].address)
    else:
        assert (row.state, row.looks) == ("unknown", 1)


def test_one_that_was_never_made_ends_as_not_seen_after_the_quiet_time(walk):
    row = ask(walk)
    walk.fault("create_deposit_address", "drop_before")
    step(row)
    assert row.state == "unknown"
    for look in range(1, 8):
        step(row)
        assert (row.state, row.looks) == ("unknown", look), "the quiet time is not over"
    AddressRequest.objects.update(sent_at=clock.now() - requests.QUIET)
    assert step(row).state == "absent"
    assert asked_for(walk) == 1
    assert ask(walk, key="asked by a person again").state == "asked"


def test_a_list_that_cannot_be_read_is_no_evidence(walk):
    row = ask(walk)
    walk.fault("create_deposit_address", "drop_before")
    step(row)
    AddressRequest.objects.update(sent_at=clock.now() - requests.QUIET)
    walk.fault("get_deposit_addresses", "status", times=99, status=500)
    for _ in range(9):
        step(row)
    assert (row.state, row.looks) == ("unknown", 0)
    assert "not reachable" in row.last_problem


def test_nothing_is_sent_when_the_list_can_not_be_read_before(walk):
    row = ask(walk)
    walk.fault("get_deposit_addresses", "status", times=9, status=500)
    step(row)
    assert (row.state, asked_for(walk)) == ("not_sent", 0)
    assert row.sentence.startswith("No new address was created")


class Killed(BaseException):
    """The worker is gone."""


@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_over_the_call_leaves_it_unknown(walk, after):
    row = ask(walk)

    class Dying:
        """A client that dies before or after the send."""

        def __init__(self, client):
            self.client = client

        def __getattr__(self, name):
            return getattr(self.client, name)

        def create_deposit_address(self, **arguments):
            if after:
                self.client.create_deposit_address(**arguments)
            raise Killed

    with pytest.raises(Killed):
        requests.advance(row.pk, now=clock.now(), client_for=lambda *arguments: Dying(keys.client_for(*arguments)))
    row.refresh_from_db()
    assert row.state == "sending"
    requests.advance(row.pk, now=clock.now(), client_for=keys.client_for)
    row.refresh_from_db()
    assert row.state == "sending", "its lease still runs"
    assert step(row).state == "unknown"
    assert step(row).state == ("made" if after else "unknown")
    assert asked_for(walk) == int(after)


def test_a_late_answer_after_the_lease_changes_nothing(walk, client_as):
    row = ask(walk)

    class Slow:
        """A client whose answer comes after another worker gave this one up."""

        def __init__(self, client):
            self.client = client

        def __getattr__(self, name):
            return getattr(self.client, name)

        def create_deposit_address(self, **arguments):
            made = self.client.create_deposit_address(**arguments)
            assert step(AddressRequest.objects.get()).state == "unknown"
            return made

    requests.advance(row.pk, now=clock.now(), client_for=lambda *arguments: Slow(keys.client_for(*arguments)))
    row.refresh_from_db()
    assert (row.state, DepositAddress.objects.count()) == ("unknown", 0)
    assert step(row).state == "made"
    assert asked_for(walk) == 1


@pytest.mark.parametrize("role", ["treasury", "admin", "auditor", ""])
def test_only_operators_ask(walk, make_person, role):
    person = make_person(*([role] if role else []), username="somebody")
    with pytest.raises(requests.CannotAsk, match="only operators"):
        ask(walk, person=person)
    assert not AddressRequest.objects.exists()


@pytest.mark.parametrize(
    ("code", "key", "words"),
    [
        ("NOSUCH", "a-key", "not listed on the exchange"),
        ("", "a-key", "not listed on the exchange"),
        ("USD", "a-key", "chain"),
        (CODE, "", "form is incomplete"),
        (CODE, "k" * 81, "form is incomplete"),
    ],
)
def test_what_can_not_be_asked_for_is_refused_and_nothing_is_written(walk, code, key, words):
    with pytest.raises(requests.CannotAsk, match=words):
        ask(walk, code, key=key)
    assert not AddressRequest.objects.exists()
    assert asked_for(walk) == 0


def test_closed_deposits_are_refused_before_anything_is_written(walk):
    for changes, words in (({"payin_enabled": False}, "suspended"), ({"delisted": True}, "delisted")):
        Currency.objects.filter(pk=CODE).update(**{"payin_enabled": True, "delisted": False, **changes})
        with pytest.raises(requests.CannotAsk, match=words):
            ask(walk)
    assert not AddressRequest.objects.exists()


def test_a_key_that_was_used_for_another_currency_is_refused(walk):
    ask(walk)
    with pytest.raises(requests.CannotAsk, match="another currency"):
        ask(walk, "ETH")
    assert AddressRequest.objects.count() == 1


def test_the_table_of_states_has_a_way_out_of_every_open_state():
    assert list(TABLE.problems()) == []
    assert {move.source for move in TABLE.moves} - {""} == set(OPEN_REQUESTS)
    assert {move.target for move in TABLE.moves} == set(REQUEST_STATES)
    assert set(requests._BY_OUTCOME) == {
        ExternalCall.ACCEPTED,
        ExternalCall.REFUSED,
        ExternalCall.NOT_SENT,
        ExternalCall.UNKNOWN,
    }


def test_two_tabs_and_two_people_at_once_ask_for_one_address(walk, make_person):
    other = make_person("operator", username="operator9")
    acts = [lambda: ask(walk, key="one form"), lambda: ask(walk, key="one form")]
    acts += [lambda: ask(walk, key="another form", person=other)]
    rows = [result for result in at_once(*acts) if isinstance(result, AddressRequest)]
    assert AddressRequest.objects.count() == 1
    assert {row.pk for row in rows} <= {AddressRequest.objects.get().pk}
    assert rows, "somebody was heard"


def test_two_workers_at_once_send_once(walk):
    row = ask(walk)
    step_now = partial(requests.advance, row.pk, now=clock.now(), client_for=keys.client_for)
    at_once(*[step_now] * 4)
    row.refresh_from_db()
    assert (row.state, asked_for(walk)) == ("made", 1)
