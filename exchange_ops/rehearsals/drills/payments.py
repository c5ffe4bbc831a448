"""Whether anything was paid twice, by what the exchange's own ledger says: the desk's rows may be wrong in a drill."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from django.db.models import Q

from desk.templatetags.desk import kept_amount
from exchange_ops.keys import store
from exchange_ops.keys.clients import client
from exchange_ops.keys.store import NoUsableKey
from exchange_ops.rehearsals.drills.scene import Scene
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals.evidence.ledger_lookup import EXECUTED, HELD
from exchange_ops.withdrawals.evidence.ledger_matching import LEAVING
from exchange_ops.withdrawals.models import Withdrawal
from wire.errors import CallFailed

_PAGE: Final = 1000  # entries, the largest page
_EARLIER: Final = timedelta(hours=2)  # what was reserved before the drill may be paid in it: a hold lasts an hour


def paid_twice(scene: Scene) -> list[str]:
    """Sentences about everything that the exchange paid, or has begun to pay, more often than this desk requested it.

    Where there is nothing of the kind, or the exchange does not answer, one sentence says so.
    """
    since = scene.began - _EARLIER
    try:
        sentences = [each for account in Account.objects.order_by("pk") for each in _of_account(account, since)]
    except (CallFailed, NoUsableKey) as problem:
        return [f"Whether anything was paid twice is not known: the exchange's ledger can't be read ({problem})."]
    return sentences or ["Nothing was paid twice, by the exchange's ledger."]


def _of_account(account: Account, since: datetime) -> Iterator[str]:
    with client(store.client_for, account=account, right=Right.PAYMENTS) as asking:
        entries: tuple[records.Transaction, ...] = asking.listing("get_transactions", limit=_PAGE).records
    leaving = [entry for entry in entries if entry.type in LEAVING and entry.created_at >= since]
    paid = Counter(_same(entry) for entry in leaving if entry.status in EXECUTED)
    # The ledger shows an order that was just accepted as it shows a mere reservation.
    begun = Counter(_same(entry) for entry in leaving if entry.status == HELD)
    for each in paid + begun:
        currency, address, payment_id, amount = each
        # With the fee included the exchange's amount is another one than the amount of the request.
        alike = Q(amount=amount) | Q(include_fee=True)
        requests = Withdrawal.objects.filter(
            alike, account=account, currency=currency, address=address, payment_id=payment_id
        ).count()
        what = f"{kept_amount(amount, currency)} to {address}"
        here = f"this desk has {requests} {'request' if requests == 1 else 'requests'} for it."
        if paid[each] > requests > 0:
            yield f"The exchange paid {what} {paid[each]} times; {here}"
        elif paid[each] + begun[each] > requests > 0:
            yield (
                f"The exchange has {what} {paid[each] + begun[each]} times, {begun[each]} of them reserved or about to "
                f"be paid; {here} Check before anything else is approved."
            )


def _same(entry: records.Transaction) -> tuple[str, str, str, Decimal]:
    return (entry.currency, entry.address or "", entry.payment_id or "", entry.amount)
