"""The shape of what people type on pages about several subjects."""

from collections.abc import Container

from django import forms

from desk.lists.filters import SEARCH_MOST, FilterForm
from exchange_ops.withdrawals.funds import Funds


class FindForm(forms.Form):
    """What was typed into the one search box."""

    q = forms.CharField(max_length=SEARCH_MOST, error_messages={"required": "Type something to find."})


class FundsFilter(FilterForm):
    """Which currencies to show, in which order; those that hold nothing only when they are asked for."""

    text = forms.CharField(required=False, max_length=40)
    sort = forms.ChoiceField(
        required=False,
        choices=[("value", "Most valuable first"), ("currency", "By code"), ("age", "Oldest reading first")],
    )
    empty = forms.BooleanField(required=False)

    def of_funds(self, rows: list[Funds], *, outside_wallets: Container[str] = ()) -> list[Funds]:
        """The rows that every filter lets through; what is searched for by name shows even when it is empty.

        Currencies of `outside_wallets` are held outside of both wallets, so they are not empty either.
        """
        chosen = self.chosen()
        wanted = str(chosen.get("text", "")).casefold()
        if wanted:
            return [row for row in rows if wanted in row.currency.casefold() or wanted in row.full_name.casefold()]
        return [row for row in rows if row.total or row.holds or row.currency in outside_wallets or chosen.get("empty")]
