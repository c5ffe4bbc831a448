"""Records of the exchange's ledger that could not be taken in: kept as they came, with the sentence why."""

from datetime import datetime
from hashlib import sha256

from exchange_ops.client import Aside
from exchange_ops.models import Account, LedgerAside

LONGEST_CONTENT = 4000


def keep(*, account: Account, aside: Aside, source: str, now: datetime) -> None:
    """Keep the record; the same one seen again only gets a new time, and waits again if it was cleared."""
    fingerprint = sha256(f"{aside.reason}\n{aside.content}".encode()).hexdigest()
    LedgerAside.objects.update_or_create(
        account=account,
        fingerprint=fingerprint,
        defaults={"seen_at": now, "cleared_at": None},
        create_defaults={
            "exchange_id": _text(aside.exchange_id, 80),
            "reason": _text(f"A transaction was kept aside: {aside.reason}.", 300),
            "content": _text(aside.content, LONGEST_CONTENT),
            "source": source,
            "first_seen_at": now,
            "seen_at": now,
        },
    )


def clear(*, account: Account, exchange_id: str, now: datetime) -> None:
    """A version of this transaction was taken in: what was kept aside of it waits for nobody any more."""
    LedgerAside.objects.filter(account=account, exchange_id=exchange_id, cleared_at=None).update(cleared_at=now)


def waiting(*, account: Account) -> int:
    """How many records wait for somebody to look at them."""
    return LedgerAside.objects.filter(account=account, cleared_at=None).count()


def _text(text: str, longest: int) -> str:
    return text[:longest].replace("\0", "")
