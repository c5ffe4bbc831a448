"""Asking the exchange which rights a key really has, with reads alone.

Each right has a documented read that needs it (exchange REST, Endpoints; for orders supplement 2.4), so nothing has to
be tried that could change anything. The answer 1003 says that the right is missing, a reply that it is there; any other
refusal says nothing about the right, since the specification does not order rights and validation.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F, Q, QuerySet

from desk import clock, outbox
from desk.incidents import review
from desk.live import announcements
from desk.machines.lanes import LANES, Job
from exchange_ops.client import ExchangeClient
from exchange_ops.keys import store
from exchange_ops.keys.models import ApiKey
from exchange_ops.keys.rights import GRANTED, MISSING, UNKNOWN
from exchange_ops.market.models import Currency
from exchange_ops.shared import alarms
from exchange_ops.wire.catalogue import Right
from exchange_ops.wire.refusals import TRANSACTION_NOT_FOUND
from wire.errors import BadReply, CallFailed, Refused

if TYPE_CHECKING:
    from desk.models import Person

TASK = store.PROBE_TASK
# Each returns the exchange's id of the newest transaction that the desk has of an account, or an empty text.
_newest_transactions: list[Callable[[int], str]] = []
# The call that probes each right. All are GETs; a test compares this table with the catalogue.
READS: dict[Right, str] = {
    Right.ORDERS: "get_orders",
    Right.HISTORY: "get_trade_history",
    Right.PAYMENTS: "get_balances",
    Right.WITHDRAW: "estimate_withdrawal",
}
FORBIDDEN = 1003
TURNED_DOWN = frozenset({403, 1001, 1002, 1004})  # about the account or the key as a whole, not about a right
WAITED_FOR = timedelta(seconds=5)  # a worker that was woken has so long to answer
FALLBACK_AFTER = timedelta(minutes=1)
TRIED_AGAIN_AFTER = timedelta(minutes=1)
ASKED_AGAIN_AFTER = timedelta(days=1)  # rights are changed at the exchange, and nobody tells the desk
OpenClient = Callable[[ApiKey], ExchangeClient]


class CannotProbeKey(Exception):
    """The exchange is not asked about this key; the sentence says why."""


@dataclass(slots=True)
class Answers:
    """The exchange's answer about each right, whether it is the same account, and what stopped the probe."""

    observed: dict[str, str] = field(default_factory=lambda: {right.value: UNKNOWN for right in Right})
    same_account: bool | None = None
    problem: str = ""
    turned_down: bool = False


def ask(*, key_id: int, person: "Person | None", now: datetime) -> None:
    """Have a worker probe the key again; a key that is being probed already is not requested twice."""
    with transaction.atomic():
        live_rows = ApiKey.objects.filter(pk=key_id, retired_at=None)
        key = live_rows.first()
        if key is None:
            raise CannotProbeKey("This key is disabled and its secret has been wiped, so it can't be checked.")
        if key.is_being_probed:
            outbox.wake(TASK, key.pk)
            return
        live_rows.update(probe_asked_at=now)
        store.record(key, "apikey.probe_asked", actor=person, now=now, before={}, after={})
        outbox.wake(TASK, key.pk)


def fill(*, key_id: int, open_client: OpenClient, now: datetime) -> None:
    """Probe the key, in the lane of its account, and store the answers; nothing happens when no probe is waiting."""
    key = _waiting(now).filter(pk=key_id).first()
    if key is not None:
        LANES.put([Job((TASK, key.account_id), key_id, partial(_fill, key_id, open_client, now))])


def _fill(key_id: int, open_client: OpenClient, now: datetime) -> int:
    key = _waiting(now).select_related("account").filter(pk=key_id).first()
    if key is None:
        return 0
    answers = _answers(key, open_client)
    asked_at = key.probe_asked_at or now
    asked_at = now if clock.is_future(asked_at, now) else asked_at
    columns: dict[str, object] = {
        "observed": answers.observed,
        # Clocks of two processes may differ: what was asked for is answered, whatever theirs say.
        "probed_at": max(now, asked_at),
        "probe_asked_at": asked_at,
        "probe_problem": answers.problem[:300],
        "same_account": key.same_account if answers.same_account is None else answers.same_account,
    }
    if answers.turned_down:
        columns |= {"last_problem": answers.problem[:300], "last_problem_at": now}
    with transaction.atomic():
        # Nothing is written when the key was disabled, requested again, or answered by another worker meanwhile.
        same = ApiKey.objects.filter(pk=key.pk, retired_at=None, probe_asked_at=key.probe_asked_at)
        if same.filter(probed_at=key.probed_at).update(**columns):
            _record_answers(key, columns, now)
            review.review_now(alarms.KEY_REFUSED, alarms.KEY_RIGHTS, now=now)
    return 1


def _record_answers(key: ApiKey, columns: dict[str, object], now: datetime) -> None:
    """Record answers in the trail only when they changed: the same ones come every day."""
    names = ("observed", "same_account", "probe_problem")
    before, after = {name: getattr(key, name) for name in names}, {name: columns[name] for name in names}
    if before != after:
        store.record(key, "apikey.probed", actor=None, now=now, before=before, after=after)
    announcements.announce(store.TOPIC, id=key.pk)


def wake_due(*, now: datetime) -> int:
    """Wake a worker for every key that is due: never probed, turned down a minute ago, or not probed for a day."""
    a_minute_ago = now - TRIED_AGAIN_AFTER
    again = (
        clock.older("probed_at", now - ASKED_AGAIN_AFTER, now=now, or_same=True)
        | (~Q(probe_problem="") & Q(probed_at__lte=a_minute_ago))
        | Q(last_problem_at__lte=a_minute_ago, last_problem_at__gte=F("probed_at"))
    )
    live_rows = ApiKey.objects.filter(retired_at=None)
    live_rows.filter(again | Q(probe_asked_at=None)).exclude(probe_asked_at__gt=F("probed_at")).update(
        probe_asked_at=now - WAITED_FOR
    )
    long_ago = clock.older("probe_asked_at", now - WAITED_FOR, now=now, or_same=True)
    due = _waiting(now).filter(long_ago).values_list("pk", flat=True)
    for key_id in due:
        outbox.wake(TASK, key_id)
    return len(due)


def probe_due(*, now: datetime, open_client: OpenClient) -> bool:
    """Without broker or worker: probe one key that no worker took for a minute. Only one, because payouts wait."""
    long_ago = clock.older("probe_asked_at", now - FALLBACK_AFTER, now=now, or_same=True)
    key = _waiting(now).filter(long_ago).order_by("probe_asked_at").first()
    if key is None:
        return False
    fill(key_id=key.pk, open_client=open_client, now=now)
    return True


def _waiting(now: datetime) -> QuerySet[ApiKey]:
    """The keys whose last answer is older than the request for one, or is from before the clock fell back."""
    unanswered = Q(probed_at=None) | Q(probed_at__lt=F("probe_asked_at")) | Q(probed_at__gt=now + clock.TOLERANCE)
    return ApiKey.objects.filter(unanswered, retired_at=None, probe_asked_at__isnull=False).exclude(sealed_secret="")


def _answers(key: ApiKey, open_client: OpenClient) -> Answers:
    """Probe every right in turn; stop at the first answer that turns the key down as a whole."""
    answers = Answers()
    try:
        client = open_client(key)
    except store.NoUsableKey as problem:
        answers.problem = str(problem)
        return answers
    try:
        for right in Right:
            answers.observed[right.value] = _answer_about(client, right)
        if answers.observed[Right.PAYMENTS.value] == GRANTED:
            answers.same_account = _knows_our_transactions(client, key)
    except CallFailed as failure:
        answers.turned_down = isinstance(failure, Refused)
        answers.problem = str(failure)
    finally:
        client.close()
    return answers


def _answer_about(client: ExchangeClient, right: Right) -> str:
    """Granted, missing or unknown. Raises errors about the key as a whole or about the connection."""
    try:
        client.call(READS[right], **_arguments(client, right))
    except Refused as refused:
        if refused.code in TURNED_DOWN:
            raise
        return MISSING if refused.code == FORBIDDEN else UNKNOWN
    except BadReply:
        return UNKNOWN
    return GRANTED


def _arguments(client: ExchangeClient, right: Right) -> dict[str, Any]:
    if right is Right.HISTORY:
        return {"limit": 1}
    if right is Right.WITHDRAW:
        code = Currency.objects.filter(payout_enabled=True, delisted=False).values_list("code", flat=True).first()
        return {"currency": code or client.call("get_currencies")[0].id, "amount": Decimal(1)}
    return {}


def register_newest_transaction(ask: Callable[[int], str]) -> None:
    """Declare which room knows an account's transactions; called when the app is ready."""
    _newest_transactions.append(ask)


def _knows_our_transactions(client: ExchangeClient, key: ApiKey) -> bool | None:
    """Whether the newest transaction we have of the account exists under this key; None when we can't tell."""
    newest = next((exchange_id for ask in _newest_transactions if (exchange_id := ask(key.account_id))), "")
    if not newest:
        return None
    try:
        client.get_transaction(exchange_id=newest)
    except Refused as refused:
        return False if refused.code in TRANSACTION_NOT_FOUND else None
    return True
