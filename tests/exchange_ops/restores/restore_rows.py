"""Restores for tests of pages, with nothing that waits: noticed, and settled by two people of treasury."""

from typing import Any

from desk import clock
from desk.restores import settling, signs, states
from desk.restores.models import Restore
from exchange_ops.shared import heartbeats
from exchange_ops.shared.models import Account
from tests.exchange_ops.permissions.shared_form import code_of_now, colleague


def opened() -> Restore:
    """One that is open; the ledger of every account was read since."""
    row = signs.notice(signs.Sign(states.HEADS), now=clock.now())
    for account in Account.objects.all():
        heartbeats.succeeded(heartbeats.ledger_of(account), now=clock.now(), account=account)
    return row


def word(row: Restore) -> dict[str, Any]:
    """A word on one with nothing that waits, for the domain."""
    digest = settling.digest_of(row, settling.items(row), {})
    return {"verdicts": {}, "comment": "Compared", "digest": digest}


def settled(row: Restore) -> Restore:
    """The same, once two people have said the same."""
    for name in ("first", "second"):
        person = colleague("treasury", f"{name}-of-{row.pk}")
        row = settling.give_word(
            restore_id=row.pk, person=person, answer=code_of_now(), session_key="s", now=clock.now(), **word(row)
        )
    return row
