"""The forms of pages about several subjects."""

from collections.abc import Container

from django import forms

from desk.lists.filters import SEARCH_MOST, FilterForm
from exchange_ops.withdrawals.funds import Funds


class FindForm(forms.Form):
    """The text of the search box."""

    q = forms.CharField(max_length=SEARCH_MOST, error_messages={"required": "Enter a search term."})


class FundsFilter(FilterForm):
    """Which currencies to show, in which order; empty ones only on request."""

    text = forms.CharField(required=False, max_length=40)
    sort = forms.ChoiceField(
        required=False,
        choices=[("value", "Highest value first"), ("currency", "By code"), ("age", "Least recently synced first")],
    )
    empty = forms.BooleanField(required=False)

    def narrow_funds(self, rows: list[Funds], *, outside_wallets: Container[str] = ()) -> list[Funds]:
        """The rows that pass every filter; a search by name shows empty currencies too.

        Currencies in `outside_wallets` are held in sub-accounts or as collateral, so they are not empty either.
        """
        chosen = self.chosen()
        search_text = str(chosen.get("text", "")).casefold()
        if search_text:
            return [
                row for row in rows if search_text in row.currency.casefold() or search_text in row.full_name.casefold()
            ]
        return [row for row in rows if row.total or row.holds or row.currency in outside_wallets or chosen.get("empty")]
