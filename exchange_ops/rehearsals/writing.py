"""Writing the file of a rehearsal from this desk's rows, and saying what is in it and what is not."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from exchange_ops.rehearsals import desk_facts, exchange_figures, files
from exchange_ops.rehearsals.desk_facts import Facts
from exchange_ops.rehearsals.exchange_figures import Figures
from exchange_ops.shared.models import Account

MOST_ACCOUNTS: Final = 20


class CannotWrite(Exception):
    """No file was written; the text is one sentence that says why."""


@dataclass(frozen=True, slots=True)
class Written:
    """What the file has."""

    figures: Figures
    facts: Facts

    def sentences(self) -> Iterator[str]:
        """What was taken over and what was not, with counts."""
        exchange, desk = self.figures.content, self.facts.content
        subs = sum(len(account["sub_accounts"]) for account in exchange["accounts"])
        balances = sum(len(account["balances"]) for account in exchange["accounts"])
        unpriced = sum(each["usd"] is None for each in exchange["currencies"])
        rules = "no rules" if desk.policy is None else f"the rules in force (policy v{desk.policy.number})"
        yield (
            f"Taken over: {_count(len(desk.accounts), 'account')} with {_count(balances, 'balance')}, "
            f"{_count(subs, 'sub-account')} and {_count(self.figures.orders, 'open order')}; "
            f"{_count(len(exchange['currencies']), 'currency', 'currencies')}, "
            f"{_count(len(exchange['symbols']), 'symbol')}; {_count(len(desk.people), 'person', 'people')}, {rules}, "
            f"{_count(len(desk.payees), 'approved payee')}."
        )
        yield (
            "Not taken over: passwords, second factors, sessions, API tokens, keys, mail addresses, webhooks, chats; "
            "payouts, transfers, the ledger and the audit trail; margin accounts; payees that wait for approval; "
            "freezes. What was reserved for payouts is available again."
        )
        left_out = [
            (self.figures.other_orders, "open order of another kind", "open orders of other kinds"),
            (self.facts.other_rules, "rule about somebody who is not active", "rules about people who are not active"),
            (self.facts.other_payees, "payee of somebody who is not active", "payees of people who are not active"),
            (unpriced, "currency without a price", "currencies without a price"),
        ]
        if any(number for number, *_ in left_out):
            named = ", ".join(_count(number, one, many) for number, one, many in left_out if number)
            yield (
                f"Also left out: {named}." if not unpriced else f"Also left out, or at a price of the sandbox: {named}."
            )


def write(path: Path, *, now: datetime) -> Written:
    """Write the file. Raises CannotWrite for a desk without accounts, figures or people."""
    accounts = list(Account.objects.order_by("pk")[: MOST_ACCOUNTS + 1])
    if not accounts:
        raise CannotWrite("This desk has no account yet, so there is nothing to rehearse with. Add a key first.")
    if len(accounts) > MOST_ACCOUNTS:
        raise CannotWrite(f"This desk has more than {MOST_ACCOUNTS} accounts, and a rehearsal takes {MOST_ACCOUNTS}.")
    written = Written(exchange_figures.read(accounts), desk_facts.read(accounts, now=now))
    if not written.figures.content["currencies"]:
        raise CannotWrite("This desk has read no currencies yet. Start it with a key that works, and try again.")
    if not written.facts.content.people:
        raise CannotWrite("Nobody on this desk has a role, so nobody could take part in a rehearsal.")
    files.write(
        files.File(
            format=files.FORMAT,
            version=files.VERSION,
            made_at=now.isoformat(timespec="seconds"),
            exchange=written.figures.content,
            desk=written.facts.content,
        ),
        path,
    )
    return written


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
