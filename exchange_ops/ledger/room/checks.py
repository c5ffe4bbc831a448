"""Whether the exchange's ledger is up to date, and its stream live."""

from datetime import timedelta
from typing import Final

from desk import clock
from desk.rooms import Health
from exchange_ops.ledger import quarantine, walks
from exchange_ops.ledger import stream as streams
from exchange_ops.shared import clocks, heartbeats
from exchange_ops.shared.declarations import ages
from exchange_ops.shared.models import Account, FollowerState

LEDGER_AGE: Final = timedelta(seconds=60)


def exchange() -> Health:
    """When the exchange's ledger was last read to its end, and the records of it that could not be read."""
    now, answers = clock.now(), []
    for account in Account.objects.order_by("pk"):
        row = heartbeats.state_of(heartbeats.ledger_of(account))
        age = ages.age(row.heard_at if row else None, now)
        if age is not None and age <= LEDGER_AGE:
            answers.append(_read(account, row, age))
        elif walks.is_progressing(account=account, now=now):
            answers.append(_being_read(account, age))
        else:
            answers.append(_late(account, row, age))
    return ages.worst(answers)


def stream() -> Health:
    """Whether the account stream is live; without it changes come with the next walk of the ledger."""
    now, answers = clock.now(), []
    for account in Account.objects.order_by("pk"):
        row = heartbeats.state_of(streams.name_of(account))
        age = ages.age(row.heard_at if row else None, now)
        if row is not None and row.connected and age is not None and age <= ages.STREAM_SILENCE:
            sentence = f"{account.name} stream is live; last message {ages.spoken(age)} ago."
            answers.append(Health(ok=True, sentence=sentence, age_s=age.total_seconds()))
        else:
            because = f" {row.problem}" if row is not None and row.problem else ""
            sentence = f"{account.name} stream is not live; refreshing every few seconds instead.{because}"
            answers.append(Health(ok=False, sentence=sentence, age_s=None if age is None else age.total_seconds()))
    return ages.worst(answers)


def _being_read(account: Account, age: timedelta | None) -> Health:
    """A long history is no alarm while its reading makes progress: what needs all of it waits by itself."""
    sentence = (
        f"The exchange's ledger for {account.name} is loading. {walks.sentence(account=account)} "
        "Lists are incomplete; reconciliation and transfers start once loading is complete."
    )
    return Health(ok=True, sentence=sentence, age_s=None if age is None else age.total_seconds())


def _read(account: Account, row: FollowerState | None, age: timedelta) -> Health:
    sentence = f"The exchange's ledger for {account.name} was synced {ages.spoken(age)} ago."
    asides = quarantine.waiting(account=account)
    if asides:
        sentence += f" Unreadable records: {asides}; review needed."
    remark = " ".join(text for text in (row.problem if row else "", clocks.problem(account=account)) if text)
    return Health(ok=True, sentence=f"{sentence} {remark}".strip(), age_s=age.total_seconds())


def _late(account: Account, row: FollowerState | None, age: timedelta | None) -> Health:
    when = "has not been synced yet" if age is None else f"was last synced {ages.spoken(age)} ago"
    problem = f" {row.problem}" if row is not None and row.problem else ""
    sentence = f"The exchange's ledger for {account.name} {when}: figures may be out of date.{problem}"
    return Health(ok=False, sentence=sentence, age_s=None if age is None else age.total_seconds())
