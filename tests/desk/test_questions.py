"""The rule of a question: one row, one wake-up, one answer; asked again when it was lost, and never answered too late.

The rows are those of the addresses that the exchange lists, under rules of this file alone.
"""

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import redis
from django.conf import settings as django_settings
from django.core.exceptions import FieldDoesNotExist, FieldError, ValidationError
from django.db import Error, connection, transaction
from django.test.utils import CaptureQueriesContext

from desk import outbox, questions
from desk.live import announcements
from exchange_ops.addresses.models import AddressBook
from exchange_ops.market.models import MarketLook
from exchange_ops.shared.models import Account
from exchange_ops.subaccounts.models import SubAccount, SubAccountReading

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("two transactions at once")]
NOW = datetime(2026, 11, 20, 14, 0, 0, 123456, tzinfo=UTC)
SECOND = timedelta(seconds=1)
QUEUE, TASK = "money", "tests.find_out"


def rule(**changes: Any) -> questions.Rule[AddressBook]:
    """Fresh for a minute, a problem for five seconds, lost after thirty."""
    usual: dict[str, Any] = {
        "model": AddressBook,
        "task": TASK,
        "topic": "addresses:{row.account_id}",
        "fresh_for": 60 * SECOND,
        "problem_for": 5 * SECOND,
        "lost_after": 30 * SECOND,
    }
    return questions.Rule(**(usual | changes))


RULE = rule()


@pytest.fixture
def account(transactional_db: None) -> Account:
    return Account.objects.create(name="Main desk", quote_currency="USD")


@pytest.fixture
def ask(account: Account) -> Callable[..., AddressBook]:
    """`ask(30)`: somebody wants to know so many seconds after the beginning."""

    def ask(
        after: float = 0, by: questions.Rule[AddressBook] = RULE, currency: str = "BCH", **more: Any
    ) -> AddressBook:
        return by.ask(account=account, currency=currency, now=NOW + after * SECOND, **{"person": None, **more})

    return ask


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[tuple[str, str]]]]:
    """The wake-up calls that wait for a worker: the task and its arguments."""
    monkeypatch.setattr(outbox, "_current", None)
    with redis.Redis.from_url(django_settings.REDIS_URL) as broker:
        broker.delete(QUEUE)

        def calls() -> list[tuple[str, str]]:
            texts: list[Any] = broker.lrange(QUEUE, 0, -1)  # type: ignore[assignment]
            headers = [json.loads(text)["headers"] for text in texts]
            return [(header["task"], header["argsrepr"]) for header in headers]

        yield calls
        broker.delete(QUEUE)


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """What browsers are told, besides telling them."""
    heard: list[tuple[str, dict[str, Any]]] = []
    announce = announcements.announce

    def listen(topic: str, **hint: Any) -> None:
        heard.append((topic, hint))
        announce(topic, **hint)

    monkeypatch.setattr(announcements, "announce", listen)
    return heard


def as_read(row: AddressBook) -> AddressBook:
    """The question as a worker reads it before it finds out."""
    return RULE.waiting().get(pk=row.pk)


def answered(row: AddressBook, after: float = 1, **more: Any) -> bool:
    return RULE.answer(as_read(row), now=NOW + after * SECOND, **more)


def together(act: Callable[[int], Any], count: int = 8) -> list[Any]:
    """Run the act in so many threads that begin at the same moment; what each gave."""
    ready, found = threading.Barrier(count), list[Any]()

    def run(number: int) -> None:
        ready.wait(10)
        try:
            found.append(act(number))
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(found) == count
    return found


def test_a_question_is_written_and_a_worker_woken(ask: Any, woken: Any, operator: Any) -> None:
    row = ask(person=operator)
    assert (row.requested_by, row.requested_at, row.answered_at, row.problem) == (operator, NOW, None, "")
    assert woken() == [(TASK, f"[{row.pk}]")]
    assert RULE.waiting().get() == row


def test_the_task_that_looks_at_all_is_woken_with_nothing(ask: Any, woken: Any) -> None:
    ask(by=rule(looks_at_all=True))
    assert woken() == [(TASK, "()")]


def test_many_who_ask_for_the_first_time_make_one_row_and_wake_once(ask: Any, woken: Any) -> None:
    rows = together(lambda number: ask())
    assert len({row.pk for row in rows}) == AddressBook.objects.count() == 1
    assert len(woken()) == 1


@pytest.mark.parametrize("waits", [False, True], ids=["an old answer", "a lost question"])
def test_many_who_ask_again_wake_once(*, ask: Any, woken: Any, waits: bool) -> None:
    row = ask()
    if not waits:
        answered(row)
    together(lambda number: ask(100))
    row.refresh_from_db()
    assert (row.requested_at, row.answered_at) == (NOW + 100 * SECOND, None)
    assert len(woken()) == 2


def test_nobody_is_woken_for_what_was_rolled_back(ask: Any, woken: Any) -> None:
    with transaction.atomic():
        ask()
        transaction.set_rollback(True)
    assert (woken(), AddressBook.objects.count()) == ([], 0)


@pytest.mark.parametrize(
    ("changes", "problem", "still", "again"),
    [
        ({}, "", 60.5, 61),
        ({}, "It did not answer.", 5.5, 6),
        ({"problem_for": None}, "It did not answer.", 60.5, 61),
        ({"fresh_since": "requested_at"}, "", 59.5, 60),
    ],
)
def test_an_answer_counts_for_its_time(
    *, ask: Any, woken: Any, changes: dict[str, Any], problem: str, still: float, again: float
) -> None:
    by = rule(**changes)
    row = ask(by=by)
    answered(row, 1, problem=problem)
    assert ask(still, by).answered_at == NOW + SECOND
    assert len(woken()) == 1
    assert ask(again, by).answered_at is None
    assert len(woken()) == 2


@pytest.mark.parametrize("problem", ["", "It did not answer."])
def test_an_answer_from_before_the_clock_was_set_back_does_not_count(ask: Any, woken: Any, problem: str) -> None:
    answered(ask(3600), 3601, problem=problem)
    assert (ask(0).answered_at, len(woken())) == (None, 2)


def test_a_question_from_before_the_clock_was_set_back_is_asked_again_once(ask: Any, woken: Any) -> None:
    ask(3600)
    assert [ask(after).requested_at for after in (0, 1)] == [NOW, NOW]
    assert len(woken()) == 2


def test_an_answer_that_does_not_count_is_asked_for_whenever_somebody_wants_to_know(ask: Any, woken: Any) -> None:
    by = rule(fresh_for=None)
    row = ask(by=by)
    assert ask(29, by).requested_at == NOW, "one that waits is not asked a second time"
    answered(row, 30)
    assert ask(30, by).answered_at is None
    assert len(woken()) == 2


def test_anew_asks_although_the_answer_is_fresh_or_the_question_waits(ask: Any, woken: Any) -> None:
    answered(ask())
    assert ask(2, anew=True).answered_at is None
    assert ask(3, anew=True).requested_at == NOW + 3 * SECOND
    assert len(woken()) == 3


def test_asked_again_the_row_forgets_what_its_rule_says(ask: Any, operator: Any) -> None:
    row = ask()
    answered(row, problem="It did not answer.", used=["one"])
    kept = ask(100, rule(asked_anew={}), person=operator)
    assert (kept.problem, kept.used, kept.requested_by) == ("It did not answer.", ["one"], operator)
    answered(row, 101, problem="It did not answer.")
    emptied = ask(200, rule(asked_anew={"problem": "", "used": []}))
    assert (emptied.problem, emptied.used, emptied.requested_by) == ("", [], None)


def test_a_question_whose_worker_was_lost_is_asked_again_after_its_time(ask: Any, woken: Any) -> None:
    row = ask()
    assert ask(29.5).requested_at == NOW
    assert len(woken()) == 1
    assert ask(30).requested_at == NOW + 30 * SECOND
    assert woken() == [(TASK, f"[{row.pk}]")] * 2


def test_a_wake_up_call_that_was_lost_costs_the_time_after_which_a_question_is_lost(ask: Any, woken: Any) -> None:
    with redis.Redis.from_url(django_settings.REDIS_URL) as broker:
        ask()
        broker.delete(QUEUE)
        ask(29.5)
        assert woken() == []
        ask(30)
        assert len(woken()) == 1


def test_an_answer_is_written_once_and_announced(ask: Any, announced: Any) -> None:
    row = ask()
    first, second = as_read(row), as_read(row)
    by = rule(hint={"currency": "{row.currency}"})
    assert by.answer(first, now=NOW + SECOND, used=["first"])
    assert not by.answer(second, now=NOW + 2 * SECOND, used=["second"])
    row.refresh_from_db()
    assert (row.answered_at, row.used) == (NOW + SECOND, ["first"])
    assert announced == [(f"addresses:{row.account_id}", {"currency": "BCH"})]


def test_of_many_workers_one_answers(ask: Any, announced: Any) -> None:
    row = ask()
    read = [as_read(row) for _ in range(8)]
    assert sorted(together(lambda number: RULE.answer(read[number], now=NOW))) == [False] * 7 + [True]
    assert len(announced) == 1


def test_a_later_question_is_not_answered_by_the_answer_under_way(ask: Any, announced: Any, woken: Any) -> None:
    row = ask()
    under_way = as_read(row)
    ask(1, anew=True)
    assert not RULE.answer(under_way, now=NOW + 2 * SECOND, used=["before it was asked"])
    row.refresh_from_db()
    assert (row.answered_at, row.used, announced) == (None, [], [])
    assert answered(row, 3, used=["since"])
    assert len(woken()) == len(announced) + 1 == 2


def test_an_answer_that_comes_late_does_not_stand_for_a_lost_question_that_was_asked_again(ask: Any) -> None:
    row = ask()
    late = as_read(row)
    ask(30)
    assert not RULE.answer(late, now=NOW + 31 * SECOND)
    assert answered(row, 32)


def test_a_row_that_is_gone_is_not_answered(ask: Any, announced: Any) -> None:
    read = as_read(ask())
    AddressBook.objects.all().delete()
    assert not RULE.answer(read, now=NOW)
    assert not RULE.waiting().filter(pk__in=[read.pk, 10**9]).exists()
    assert announced == []


def test_a_problem_of_any_length_and_with_any_character_is_kept_as_far_as_it_goes(ask: Any) -> None:
    row = ask()
    assert answered(row, problem="\0<b>No</b>\u202e 💥" + "x" * 1000)
    row.refresh_from_db()
    assert row.problem == ("<b>No</b>\u202e 💥" + "x" * 1000)[: questions.LONGEST_PROBLEM]


@pytest.mark.parametrize(
    "wrong",
    [{"currency": None}, {"currency": "BCH", "coin": "BCH"}, {"currency": "BCH", "now": "yesterday"}],
)
def test_what_the_columns_do_not_take_is_raised_and_nothing_is_asked(
    account: Account, woken: Any, wrong: dict[str, Any]
) -> None:
    with pytest.raises((Error, FieldError, ValidationError)):
        RULE.ask(**{"account": account, "person": None, "now": NOW, **wrong})
    assert (woken(), AddressBook.objects.count()) == ([], 0)


def test_an_answer_that_the_columns_do_not_take_leaves_the_question_waiting(ask: Any, announced: Any) -> None:
    row = ask()
    for wrong in ({"currency": None}, {"colour": "red"}):
        with pytest.raises((Error, FieldDoesNotExist)):
            answered(row, **wrong)
    assert RULE.waiting().get() == row
    assert announced == []
    assert answered(row)


@pytest.mark.parametrize("wrong", [{"asked_anew": {"colour": None}}, {"fresh_since": "read_on"}])
def test_a_rule_about_a_column_that_is_not_there_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(FieldDoesNotExist):
        rule(**wrong)


@pytest.mark.parametrize("name", ["lost_after", "fresh_for", "problem_for"])
def test_a_rule_without_a_time_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="asked again forever"):
        rule(**{name: timedelta()})


# Read every so often, and sooner when somebody asks -------------------------------------------------------------------

PERIODIC = questions.Periodic(requested="balances_asked_at", tried="balances_tried_at", every=60 * SECOND)


@pytest.fixture
def sub(account: Account) -> SubAccount:
    return SubAccount.objects.create(account=account, exchange_id=7001, email="a@example.org", observed_at=NOW)


def is_due(sub: SubAccount, after: float) -> bool:
    return SubAccount.objects.filter(PERIODIC.due(NOW + after * SECOND), pk=sub.pk).exists()


def read(sub: SubAccount, after: float) -> None:
    SubAccount.objects.filter(pk=sub.pk).update(balances_tried_at=NOW + after * SECOND)


def test_what_is_read_every_so_often_is_due_when_its_time_came_or_somebody_asked(sub: SubAccount) -> None:
    assert is_due(sub, 0), "it was never read"
    read(sub, 0)
    assert [is_due(sub, after) for after in (1, 59.5, 60)] == [False, False, True]
    PERIODIC.want(SubAccount.objects.filter(pk=sub.pk), now=NOW + SECOND)
    assert is_due(sub, 2)
    read(sub, 3)
    assert not is_due(sub, 4)


def test_what_is_asked_for_while_it_is_read_is_due_afterwards(sub: SubAccount) -> None:
    PERIODIC.want(SubAccount.objects.filter(pk=sub.pk), now=NOW + SECOND)
    read(sub, 0)
    assert is_due(sub, 2), "the reading began before the question"


def test_what_was_tried_or_asked_for_before_the_clock_was_set_back_is_read_once(sub: SubAccount) -> None:
    PERIODIC.want(SubAccount.objects.filter(pk=sub.pk), now=NOW + 3600 * SECOND)
    read(sub, 3601)
    assert is_due(sub, 0)
    read(sub, 0)
    assert not is_due(sub, 1)


def test_who_asked_is_kept_where_there_is_a_column_for_it(account: Account, operator: Any) -> None:
    by = questions.Periodic(requested="asked_at", requested_by="asked_by", tried="tried_at", every=60 * SECOND)
    row = SubAccountReading.objects.create(account=account)
    by.want(SubAccountReading.objects.filter(pk=row.pk), now=NOW, person=operator)
    row.refresh_from_db()
    assert (row.asked_at, row.asked_by, row.is_awaited) == (NOW, operator, True)


# Kept up to date while somebody looks ---------------------------------------------------------------------------------

LOOK = questions.Interest(model=MarketLook)


@pytest.fixture
def looks(transactional_db: None) -> list[MarketLook]:
    return [MarketLook.objects.create(symbol=f"S{number}", period="M30", asked_at=NOW) for number in range(3)]


def noted(looks: list[MarketLook], after: float) -> int:
    """That somebody looks, by the rows as they were read at the beginning."""
    return LOOK.note({row.pk: row.asked_at for row in looks}, now=NOW + after * SECOND)


def test_a_look_is_noted_once_in_ten_seconds_and_counts_for_a_minute(looks: list[MarketLook]) -> None:
    assert [noted(looks, after) for after in (0, 9.5, 10, 19.5, 20)] == [0, 0, 3, 0, 3]
    seen = [MarketLook.objects.filter(LOOK.looked_at(NOW + after * SECOND)).count() for after in (79.5, 80)]
    assert seen == [3, 0]


def test_a_look_from_before_the_clock_was_set_back_is_none_until_somebody_looks_again(looks: list[MarketLook]) -> None:
    MarketLook.objects.update(asked_at=NOW + 3600 * SECOND)
    assert not MarketLook.objects.filter(LOOK.looked_at(NOW)).exists()
    assert LOOK.note({row.pk: NOW + 3600 * SECOND for row in looks}, now=NOW) == len(looks)
    assert MarketLook.objects.filter(LOOK.looked_at(NOW)).count() == len(looks)


def test_looking_writes_nothing_while_it_was_noted_lately(looks: list[MarketLook]) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert noted(looks, 9.5) == LOOK.note({}, now=NOW) == 0
    assert len(queries) == 0


def test_of_many_who_look_at_once_one_notes_it(looks: list[MarketLook]) -> None:
    assert sorted(together(lambda number: noted(looks, 10))) == [0] * 7 + [3]
