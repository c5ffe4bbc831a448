"""A back-test: what a draft of the rules would have required of what left the accounts in the last 90 days.

Each payout, also one made elsewhere, and each transfer to another user is judged by the rules in force and by the
draft, by the function that judges requests, with those before it as they were. Its value is that of the request; where
none was stored, the amount at today's price. What the balance was at the time is not stored: rules about its share are
left out and named. Approved payees are those of today.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from desk.models import Person
from exchange_ops.market import valuation
from exchange_ops.payees import book
from exchange_ops.policy import outgoing, payout_rules, quorum
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.outgoing import Group, Past
from exchange_ops.policy.payout_judging import Payout
from exchange_ops.policy.payout_rules import PayoutRule
from exchange_ops.policy.quorum import Weighed
from exchange_ops.policy.ruleset import Rules
from exchange_ops.shared import rules as shared_rules
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals.decisions import payout_facts

DAYS: Final = 90
MOST: Final = 1_000
MOST_NAMED: Final = 20
# The tier is that of all payouts to one recipient within a day (`withdrawals/decisions/day_totals.py`).
_DAY: Final = PayoutRule(payout_rules.RECIPIENT_TOTAL, Decimal(0), 24)


@dataclass(frozen=True, slots=True)
class Case:
    """What the draft would have treated otherwise; `sentence` is the draft's decisive one."""

    past: Past
    before: str
    after: str
    sentence: str


@dataclass(frozen=True, slots=True)
class BackTest:
    """The outcome for `count` payouts: those that would be rejected, need more approvals or fewer, or be allowed.

    One that needs the approval of a further group needs more; one that needs that of another group needs fewer.

    `older` is how many more there were, and `without` the numbers of the rules that could not be tested.
    """

    count: int
    older: int
    rejected: Sequence[Case]
    more: Sequence[Case]
    fewer: Sequence[Case]
    without: Sequence[int]

    @property
    def cases(self) -> Sequence[Case]:
        """The cases that are listed: the rejected first, then the newest of the others."""
        return [*self.rejected, *self.more, *self.fewer][:MOST_NAMED]

    @property
    def unlisted(self) -> int:
        """How many cases are not listed."""
        return len(self.rejected) + len(self.more) + len(self.fewer) - len(self.cases)


def run(draft: Rules, *, in_force: Rules, person: Person, now: datetime) -> BackTest:
    """Judge what left the accounts that the person may see, the newest `MOST`, by both sets of rules."""
    accounts = {row.pk: row for row in shared_rules.seen_by(person, Account.objects.all(), account="pk")}
    since = now - timedelta(days=DAYS)
    pasts = outgoing.pasts(accounts, since=since - outgoing.LONGEST)
    world = _World(pasts, accounts, outgoing.recipients_before(accounts, until=since - outgoing.LONGEST), now)
    within = bisect_left(pasts, since, key=lambda past: past.at)
    first = max(within, len(pasts) - MOST)
    kinds: dict[str, list[Case]] = {"rejected": [], "more": [], "fewer": []}
    for place in reversed(range(first, len(pasts))):
        before, after = (world.weigh(rules, place) for rules in (in_force, draft))
        if kind := _kind(before, after):
            sentence = after.blocked or after.sentences[0]
            kinds[kind].append(Case(pasts[place], _outcome(before), _outcome(after), sentence))
    without = [n for n, rule in enumerate(draft.payouts, 1) if rule.measure == payout_rules.BALANCE_SHARE]
    return BackTest(count=len(pasts) - first, older=first - within, without=without, **kinds)


class _World:
    """What left, in order, with what both sets of rules ask of it."""

    def __init__(
        self, pasts: Sequence[Past], accounts: Mapping[int, Account], paid: Collection[object], now: datetime
    ) -> None:
        self._pasts, self._accounts, self._paid = pasts, accounts, {*paid}
        policy = quorum.current()
        self._version = 1 if policy is None else policy.number + 1
        keys = [book.Key(*past.place) for past in pasts if past.place is not None]
        self._payee_groups = {tuple(key): row.group for key, row in book.approved(keys, now=now).items()}
        self._histories: dict[int, tuple[list[Group], bool]] = {}
        self._roles = payout_facts.roles_of_people()
        codes = {past.currency for past in pasts}
        quotes = {account.quote_currency for account in accounts.values()}
        self._prices = {
            quote: {
                code: value.rate
                for code, value in valuation.values_of(
                    amounts=dict.fromkeys(codes, Decimal(1)), quote=quote, now=now
                ).items()
            }
            for quote in quotes
        }

    def weigh(self, rules: Rules, place: int) -> Weighed:
        """What these rules require of the row at this place."""
        past, account = self._pasts[place], self._accounts[self._pasts[place].account]
        others, is_first = self._history(place)
        rates = self._rates(account.quote_currency)
        own = Group(past.account, past.currency, past.person, True, 1, 1, past.amount)
        day = outgoing.Totals(own, others, rates=rates, roles=dict)(_DAY)
        return quorum.weigh(
            rules,
            account=account,
            quote_value=day.value if day.count > 1 else self._value(past, account),
            payout=lambda rules: Payout(
                account=past.account,
                currency=past.currency,
                amount=past.amount,
                value=self._value(past, account) if rules.currency == account.quote_currency else None,
                at=past.at,
                is_first=is_first,
                total=outgoing.Totals(own, others, rates=self._rates(rules.currency), roles=lambda: self._roles),
                person=past.person,
                roles=frozenset(self._roles.get(past.person or 0, ())),
                fee_share=None if past.fee is None else past.fee / past.amount * 100,
                balance_share=Decimal(0),
                payee_group=self._payee_groups.get(past.place or ()),
            ),
            version=self._version,
        )

    def _history(self, place: int) -> tuple[list[Group], bool]:
        """The groups before the row, and whether its recipient was not paid before."""
        if place not in self._histories:
            past = self._pasts[place]
            begins = bisect_left(self._pasts, past.at - outgoing.LONGEST, key=lambda each: each.at)
            is_first = past.recipient not in self._paid and all(
                each.recipient != past.recipient for each in self._pasts[:place]
            )
            self._histories[place] = outgoing.groups_before(past, self._pasts[begins:place]), is_first
        return self._histories[place]

    def _rates(self, quote: str) -> Callable[[Collection[str]], Mapping[str, Decimal | None]]:
        prices = self._prices.get(quote, {})
        return lambda codes: {code: prices.get(code) for code in codes}

    def _value(self, past: Past, account: Account) -> Decimal | None:
        if past.value is not None:
            return past.value
        price = self._prices[account.quote_currency][past.currency]
        return None if price is None else past.amount * price


def _kind(before: Weighed, after: Weighed) -> str:
    """How the draft differs about one payout: an empty text where it does not."""
    if bool(before.blocked) != bool(after.blocked):
        return "rejected" if after.blocked else "fewer"
    had, has = (group_needs.of(weighed.needs) for weighed in (before, after))
    if after.blocked or (before.approvals, had) == (after.approvals, has):
        return ""
    is_stricter = after.approvals >= before.approvals and group_needs.cover(has, had)
    return "more" if is_stricter else "fewer"


def _outcome(weighed: Weighed) -> str:
    if weighed.blocked:
        return "rejected"
    return group_needs.approvals_in_words(weighed.approvals, group_needs.of(weighed.needs))
