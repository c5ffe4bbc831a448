"""What the exchange shows of the sub-accounts: the list with their status, payout settings, balances, addresses.

The pages write that they want to know (`ask`, `ask_balances`, `ask_address`), a worker reads, and the pages are
notified. A reading never overwrites a later one: what is stored carries the moment before its call. Source: exchange
REST, Sub-accounts; supplement 2.4 (rights), 2.7, 2.11.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog
from django.db import transaction
from django.db.models import F, Q

from desk import clock, outbox, questions
from desk.live import announcements
from desk.machines.lanes import LANES, WAIT_S, Job
from desk.machines.step_clock import Stopwatch
from exchange_ops.client import ExchangeClient
from exchange_ops.keys import answering, clients
from exchange_ops.keys.answering import FAILURES, sentence_of
from exchange_ops.keys.clients import ClientFor
from exchange_ops.ledger.balances import LONGEST_CODE
from exchange_ops.shared import leases, turns
from exchange_ops.shared.amounts import storable
from exchange_ops.shared.models import Account
from exchange_ops.subaccounts import states
from exchange_ops.subaccounts.machine import TOPIC
from exchange_ops.subaccounts.models import (
    LONGEST_DESCRIPTION,
    SubAccount,
    SubAccountAddress,
    SubAccountBalance,
    SubAccountReading,
)
from exchange_ops.wire import records
from exchange_ops.wire.catalogue import Right

if TYPE_CHECKING:
    from desk.models import Person

SYNC_TASK, ADDRESS_TASK = "exchange_ops.sync_subaccounts", "exchange_ops.read_subaccount_address"
BALANCES_A_ROUND = 8  # one call each, and everything shares ten calls a second (supplement 2.5)
SETTINGS_A_CALL = 100
HIGHEST_ID = 2**63 - 1
LIST = questions.Periodic(requested="asked_at", requested_by="asked_by", tried="tried_at", every=timedelta(seconds=45))
BALANCES = questions.Periodic(requested="balances_asked_at", tried="balances_tried_at", every=timedelta(minutes=2))
# One call in ten seconds, counted from the question, answered or not.
ADDRESS = questions.Rule(
    model=SubAccountAddress,
    task=ADDRESS_TASK,
    topic="{row.sub_account.subject}",
    hint={"address": "{row.currency}"},
    fresh_for=timedelta(seconds=10),
    fresh_since="requested_at",
    lost_after=timedelta(seconds=10),
)
_NO_ADDRESS = {"address": "", "payment_id": ""}
_OPEN_WORDS = (states.NEW, states.LISTED_ACTIVE)
_log = structlog.get_logger(__name__)


# What pages ask for ---------------------------------------------------------------------------------------------------


def ask(*, account: Account, person: "Person", now: datetime) -> None:
    """Have the list read as soon as a worker is free."""
    row, _ = SubAccountReading.objects.get_or_create(account=account)
    LIST.want(SubAccountReading.objects.filter(pk=row.pk), now=now, person=person)
    BALANCES.want(SubAccount.objects.filter(account=account, missing_since=None), now=now)
    announcements.announce(TOPIC)
    outbox.wake(SYNC_TASK)


def ask_balances(*, sub: SubAccount, now: datetime) -> None:
    """Have the balances of this one read as soon as a worker is free."""
    BALANCES.want(SubAccount.objects.filter(pk=sub.pk), now=now)
    outbox.wake(SYNC_TASK)


def ask_address(*, sub: SubAccount, currency: str, person: "Person", now: datetime) -> SubAccountAddress:
    """Have the sub-account's deposit address of a currency read; asked again only after ten seconds."""
    return ADDRESS.ask(sub_account=sub, currency=currency, person=person, now=now)


# What workers do ------------------------------------------------------------------------------------------------------


def sync(*, now: datetime, client_for: ClientFor) -> int:
    """Read what is due of every account; returns how many lists were read. One failing account doesn't stop the others.

    The first failed read ends the turn of its account: an exchange that doesn't answer costs one deadline.
    """
    watch = Stopwatch(now)
    return LANES.put(
        [
            Job((SYNC_TASK, account.pk), "read", partial(_sync_in_turn, account, watch, client_for))
            for account in turns.accounts("sub-accounts")
        ],
        wait_s=WAIT_S,
    )


def observe(*, sub: SubAccount, client_for: ClientFor, now: datetime) -> str:
    """Read the list and this one's payout settings at once, and store them; returns the problem, if any."""
    try:
        with clients.client(client_for, account=sub.account, right=None) as client:
            store_list(account=sub.account, entries=client.get_subaccounts(), now=now)
    except FAILURES as failure:
        return sentence_of(failure)
    problem = _sync_settings(sub.account, [sub.exchange_id], now, client_for)
    sub.refresh_from_db()
    return problem


def fill_address(*, address_id: int, client_for: ClientFor, now: datetime) -> None:
    """Ask the exchange for the deposit address and store its answer; does nothing when it was answered already."""

    def read(client: ExchangeClient, row: SubAccountAddress) -> dict[str, str]:
        subaccount_id = row.sub_account.exchange_id
        return _address_columns(
            client.get_subaccount_deposit_address(subaccount_id=subaccount_id, currency=row.currency)
        )

    answering.fill(
        ADDRESS,
        address_id,
        right=Right.PAYMENTS,
        read=read,
        client_for=client_for,
        now=now,
        account="sub_account__account",
        failed=_NO_ADDRESS,
    )


def store_list(*, account: Account, entries: Iterable[records.SubAccount], now: datetime) -> list[str]:
    """Store the list as read at `now`; what it lacks is missing. Returns a sentence for each that can't be stored."""
    problems, entry_by_id = [], {}
    for entry in entries:
        if 0 < entry.id <= HIGHEST_ID and _fits(entry.email, 254) and _fits(entry.status, 40):
            entry_by_id[entry.id] = entry
        else:
            problems.append(f"Sub-account {str(entry.id)[:20]} was not recorded: its record is invalid.")
    rows = {row.exchange_id: row for row in SubAccount.objects.filter(account=account)}
    with transaction.atomic():
        changed = [_store_one(account, entry, rows.get(number), now) for number, entry in entry_by_id.items()]
        present = SubAccount.objects.filter(_earlier("observed_at", now), account=account, missing_since=None)
        missing = present.exclude(exchange_id__in=entry_by_id)
        changed += [row.subject for row in missing]
        missing.update(missing_since=now, observed_at=now)
        _announce(changed)
    return problems


# Steps ----------------------------------------------------------------------------------------------------------------


def _sync_in_turn(account: Account, watch: Stopwatch, client_for: ClientFor) -> int:
    now, lease, holder = watch.now(), f"subs:{account.pk}", leases.name_of_this_process()
    if not leases.hold(name=lease, holder=holder, now=now):
        return 0
    try:
        return int(_sync_list(account, now, client_for) and _sync_rest(account, now, client_for))
    finally:
        leases.release(name=lease, holder=holder)


def _sync_rest(account: Account, now: datetime, client_for: ClientFor) -> bool:
    _sync_balances(account, now, client_for)
    waiting = ADDRESS.waiting().filter(sub_account__account=account).order_by("pk")
    for address in waiting[:BALANCES_A_ROUND]:
        fill_address(address_id=address.pk, client_for=client_for, now=now)
    return True


def _sync_list(account: Account, now: datetime, client_for: ClientFor) -> bool:
    SubAccountReading.objects.get_or_create(account=account)
    reading = SubAccountReading.objects.filter(LIST.due(now), account=account).first()
    if reading is None:
        return True
    columns: dict[str, Any] = {"tried_at": now, "problem": ""}
    try:
        with clients.client(client_for, account=account, right=None) as client:
            entries = client.get_subaccounts()
        problems = store_list(account=account, entries=entries, now=now)
        rows = SubAccount.objects.filter(account=account, missing_since=None)
        numbers = list(rows.order_by("exchange_id").values_list("exchange_id", flat=True))
        problems += [problem for problem in [_sync_settings(account, numbers, now, client_for)] if problem]
        columns |= {"read_at": now, "problem": " ".join(problems)[:500]}
    except FAILURES as failure:
        columns["problem"] = f"The list could not be loaded. {sentence_of(failure)}"[:500]
        _log.warning("subaccounts.list_failed", account=account.pk, reason=str(failure))
    SubAccountReading.objects.filter(pk=reading.pk).update(**columns)
    if reading.is_awaited or columns["problem"] != reading.problem:
        announcements.announce(TOPIC)
    return "read_at" in columns


def _sync_settings(account: Account, numbers: list[int], now: datetime, client_for: ClientFor) -> str:
    """Read the payout settings of these sub-accounts; returns a sentence when that failed."""
    if not numbers:
        return ""
    try:
        with clients.client(client_for, account=account, right=Right.PAYMENTS) as client:
            for start in range(0, len(numbers), SETTINGS_A_CALL):
                batch = numbers[start : start + SETTINGS_A_CALL]
                _store_settings(account, batch, client.get_subaccount_settings(ids=batch), now)
    except FAILURES as failure:
        return f"The payout settings could not be loaded. {sentence_of(failure)}"
    return ""


def _sync_balances(account: Account, now: datetime, client_for: ClientFor) -> None:
    due = SubAccount.objects.filter(BALANCES.due(now), account=account, missing_since=None)
    first = due.order_by(F("balances_tried_at").asc(nulls_first=True), "pk")[:BALANCES_A_ROUND]
    for sub in first:
        try:
            with clients.client(client_for, account=account, right=Right.PAYMENTS) as client:
                figures_now = client.get_subaccount_balances(subaccount_id=sub.exchange_id)
            _store_balances(sub, figures_now, now)
        except FAILURES as failure:
            problem = f"The balances could not be loaded. {sentence_of(failure)}"[:300]
            SubAccount.objects.filter(pk=sub.pk).update(balances_tried_at=now, balances_problem=problem)
            return
        finally:
            announcements.announce(sub.subject, balances=True)


def _earlier(column: str, now: datetime) -> Q:
    """The rows that this reading may overwrite: another one may have been faster."""
    return clock.older(column, now, now=clock.now())


def _store_one(account: Account, entry: records.SubAccount, row: SubAccount | None, now: datetime) -> str:
    """Store one line of the list; returns the subject when it brought something new."""
    columns: dict[str, Any] = {"email": entry.email, "status": entry.status, "missing_since": None, "observed_at": now}
    if entry.status in _OPEN_WORDS:
        columns["closed_as"] = ""
    if row is None:
        SubAccount.objects.get_or_create(account=account, exchange_id=entry.id, defaults=columns)
        return f"subaccount:{entry.id}"
    SubAccount.objects.filter(_earlier("observed_at", now), pk=row.pk).update(**columns)
    same = (row.email, row.status, row.missing_since) == (entry.email, entry.status, None)
    return "" if same else row.subject


def _store_settings(
    account: Account, numbers: list[int], settings: Iterable[records.WithdrawalSetting], now: datetime
) -> None:
    """Store the settings that were read: one that is left out has none, so it is frozen or disabled."""
    settings_by_id = {one.sub_account_id if one.sub_account_id is not None else one.id: one for one in settings}
    changed = []
    for row in SubAccount.objects.filter(account=account, exchange_id__in=numbers):
        setting = settings_by_id.get(row.exchange_id)
        columns: dict[str, Any] = {"settings_shown": setting is not None, "settings_at": now}
        if setting is not None:
            description = (setting.description or "").replace("\0", "")[:LONGEST_DESCRIPTION]
            columns |= {"payout_enabled": setting.is_payout_enabled, "description": description}
        earlier = Q(settings_at=None) | _earlier("settings_at", now)
        SubAccount.objects.filter(earlier, pk=row.pk).update(**columns)
        if any(getattr(row, name) != value for name, value in columns.items() if name != "settings_at"):
            changed.append(row.subject)
    _announce(changed)


def _store_balances(sub: SubAccount, balances: records.SubAccountBalances, now: datetime) -> None:
    rows, out_of_bounds = [], 0
    for wallet, entries in ((SubAccountBalance.MAIN, balances.main), (SubAccountBalance.TRADING, balances.trading)):
        for entry in entries:
            if len(entry.currency) > LONGEST_CODE or not storable(entry.available) or not storable(entry.reserved):
                out_of_bounds += 1
            elif entry.available or entry.reserved:
                rows.append(
                    SubAccountBalance(
                        sub_account=sub,
                        wallet=wallet,
                        currency=entry.currency,
                        available=entry.available,
                        reserved=entry.reserved,
                    )
                )
    problem = f"{out_of_bounds} balances were not recorded: figures out of range." if out_of_bounds else ""
    columns = {"balances_at": now, "balances_tried_at": now, "balances_problem": problem}
    earlier = Q(balances_at=None) | _earlier("balances_at", now)
    with transaction.atomic():
        if SubAccount.objects.filter(earlier, pk=sub.pk).update(**columns):
            SubAccountBalance.objects.filter(sub_account=sub).delete()
            SubAccountBalance.objects.bulk_create(rows, ignore_conflicts=True)


def _address_columns(address: records.DepositAddress) -> dict[str, str]:
    if not _fits(address.address, 256) or not _fits(address.payment_id or "", 256):
        return {**_NO_ADDRESS, "problem": "The exchange returned an invalid address."}
    return {"address": address.address, "payment_id": address.payment_id or ""}


def _fits(text: str, longest: int) -> bool:
    return len(text) <= longest and text.isprintable()


def _announce(subjects: Iterable[str]) -> None:
    changed = [subject for subject in subjects if subject]
    for subject in changed:
        announcements.announce(subject)
    if changed:
        announcements.announce(TOPIC)
