"""The forms of tables of tiers: one for every other account, and one for each account that may have its own."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from django import forms

from exchange_ops.policy import ruleset
from exchange_ops.policy.modes import APPROVE_THEN_HOLD, HOLD_THEN_APPROVE
from exchange_ops.policy.ruleset import Rules, Tier
from exchange_ops.policy_changes.group_forms import MORE_ROWS, NeedsField, typed
from exchange_ops.shared.forms import AmountField
from exchange_ops.shared.models import Account

ORDERS: Final = (
    (HOLD_THEN_APPROVE, "Reserve, then approve"),
    (APPROVE_THEN_HOLD, "Approve, then reserve"),
)


class TierForm(forms.Form):
    """One row of a table of tiers; one without approvals is no tier."""

    up_to = AmountField(label="Value up to", required=False)
    approvals = forms.IntegerField(
        label="Approvals", required=False, min_value=1, max_value=ruleset.MOST_APPROVALS, localize=False
    )
    needs = NeedsField()
    mode = forms.ChoiceField(label="Sequence", choices=ORDERS, required=False)


class OwnForm(forms.Form):
    """Whether an account has tiers of its own."""

    own = forms.BooleanField(label="This account has its own tiers", required=False)


class TierTable:
    """The rows of one table: the existing tiers, two empty rows, and the row for values above every tier."""

    def __init__(self, data: Any, *, start: Sequence[Tier], prefix: str = "") -> None:
        tiers = [
            {
                "up_to": plain(tier.up_to),
                "approvals": tier.approvals,
                "needs": typed(tier.needs),
                "mode": tier.mode,
            }
            for tier in start
        ]
        with_end = [tier for tier in tiers if tier["up_to"] is not None] + [{}] * MORE_ROWS
        above = [tier for tier in tiers if tier["up_to"] is None] or [{}]
        self.rows = [
            TierForm(data, prefix=f"{prefix}t{n}", initial=row) for n, row in enumerate(with_end[: ruleset.MOST_TIERS])
        ]
        self.above = TierForm(data, prefix=f"{prefix}above", initial=above[0])

    @property
    def parts(self) -> list[TierForm]:
        """Every row, the one above all last."""
        return [*self.rows, self.above]

    def named(self) -> Iterator[tuple[str, forms.Form]]:
        """Every row with its name in a sentence."""
        yield from ((f"Tier {n}", row) for n, row in enumerate(self.rows, 1))
        yield "Top tier", self.above

    def tiers(self) -> tuple[Tier, ...]:
        """The tiers of the rows; call it only when they are valid."""
        return ruleset.in_order(self._tiers())

    def _tiers(self) -> Iterator[Tier]:
        for row in self.rows:
            if row.cleaned_data["up_to"]:
                yield _tier(row.cleaned_data["up_to"], row)
        if self.above.cleaned_data["approvals"] or self.above.cleaned_data["needs"]:
            yield _tier(None, self.above)


def _tier(up_to: Decimal | None, row: TierForm) -> Tier:
    cleaned = row.cleaned_data
    return Tier(up_to, cleaned["approvals"] or 0, cleaned["mode"], needs=cleaned["needs"])


class AccountTiers:
    """One account's own tiers. Where it has none yet, its table begins as a copy of the one for every other account.

    `is_apart` is whether it has its own in the rules in force.
    """

    def __init__(self, data: Any, *, account: Account, start: Rules) -> None:
        self.account = account
        self._begins = tuple(replace(tier, account=None) for tier in ruleset.tiers_for(start, account.pk))
        self.is_apart = account.pk in ruleset.accounts_apart(start)
        self.switch = OwnForm(data, prefix=f"a{account.pk}", initial={"own": self.is_apart})
        self.table = TierTable(data, start=self._begins, prefix=f"a{account.pk}-")

    @property
    def has_own(self) -> bool:
        """Whether the page says now that the account has its own."""
        return bool(self.switch["own"].value())

    @property
    def is_open(self) -> bool:
        """Whether its rows are shown unfolded: they apply, or something is wrong with them."""
        return (
            self.has_own
            or any(row.errors for row in self.table.parts)
            or (self.table.above.is_bound and self._is_typed())
        )

    def contradiction(self) -> str:
        """Where the rows contradict the switch, or an empty text; call it only when both are valid."""
        if self.has_own and not self.table.tiers():
            return f"Enter at least one tier for {self.account.name}, or untick “This account has its own tiers”."
        if not self.has_own and self._is_typed():
            return (
                f"You changed tiers for {self.account.name}. Tick “This account has its own tiers” or undo the changes."
            )
        return ""

    def tiers(self) -> list[Tier]:
        """The account's own tiers, empty where it has none; call it only when they are valid."""
        if not self.switch.cleaned_data["own"]:
            return []
        return [replace(tier, account=self.account.pk) for tier in self.table.tiers()]

    def _is_typed(self) -> bool:
        """Whether somebody changed the rows. Empty rows don't count as a change."""
        return self.table.tiers() not in {(), self._begins}


def plain(amount: Decimal | None) -> str | None:
    """An amount as people type it, without trailing zeros."""
    return None if amount is None else f"{amount.normalize():f}"
