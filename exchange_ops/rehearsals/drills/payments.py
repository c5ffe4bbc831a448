"""Whether anything was paid twice, by what the exchange's own ledger says: the desk's rows may be wrong in a drill."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
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
from exchange_ops.withdrawals.evidence.ledger_lookup import EXECUTED
from exchange_ops.withdrawals.models import Withdrawal
from wire.errors import CallFailed

_PAYOUT: Final = "payout"
_PAGE: Final = 1000  # entries, the largest page
_EARLIER: Final = timedelta(hours=2)  # what was reserved before the drill may be paid in it: a hold lasts an hour


def paid_twice(scene: Scene) -> list[str]:
    """A sentence for everything that the exchange paid more often than this desk has requests for it, or that there is
    nothing of the kind; where the exchange does not answer, that it is not known.
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
    times = Counter(
        (entry.currency, entry.address or "", entry.payment_id or "", entry.amount)
        for entry in entries
        if entry.type == _PAYOUT and entry.status in EXECUTED and entry.created_at >= since
    )
    for (currency, address, payment_id, amount), paid in times.items():
        # With the fee included the exchange's amount is another one than the amount of the request.
        same = Q(amount=amount) | Q(include_fee=True)
        requests = Withdrawal.objects.filter(
            same, account=account, currency=currency, address=address, payment_id=payment_id
        ).count()
        if paid > requests > 0:
            yield (
                f"The exchange paid {kept_amount(amount, currency)} to {address} {paid} times; this desk has "
                f"{requests} {'request' if requests == 1 else 'requests'} for it."
            )
