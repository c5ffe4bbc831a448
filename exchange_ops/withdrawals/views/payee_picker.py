"""The payees' book in the payout form: what it offers, and the form with the chosen payee's recipient filled in."""

from collections.abc import Mapping
from typing import Any, Final

from django.http import HttpResponse

from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.addresses import destinations
from exchange_ops.market.models import Currency
from exchange_ops.payees import book
from exchange_ops.payees.models import Payee
from exchange_ops.shared import rules
from exchange_ops.shared.forms import fresh_key
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted
from exchange_ops.withdrawals.forms import NewWithdrawalForm

FILL: Final = "fill"
"""The name of the button that fills the recipient in; it requests nothing."""
_KEPT: Final = ("currency", "amount", "fee_from", "address", "payment_id", "reason")


@posted(rules.may_request)
def picker(request: DeskRequest) -> HttpResponse:
    """The picker for the currency that was chosen; the choice stays while it is offered."""
    form = NewWithdrawalForm(initial=request.POST.dict(), currencies=[], payees=of_request(request))
    return show(request, "exchange_ops/new/_payee.html", {"form": form})


def of_request(request: DeskRequest) -> list[Payee]:
    """The approved payees of the account and of the currency in the form; of every currency before one is chosen."""
    return _offered(accounts.current(request), request.POST.get("currency", ""))


def filled_in(request: DeskRequest, payable: list[Currency]) -> NewWithdrawalForm:
    """The form as it was typed, with currency, address and payment id of the chosen payee."""
    typed = {name: request.POST.get(name, "") for name in _KEPT}
    chosen = {str(row.pk): row for row in of_request(request)}.get(request.POST.get("payee", ""))
    if chosen is not None:
        typed |= {name: getattr(chosen, name) for name in ("currency", "address", "payment_id")}
    key = request.POST.get("request_key", "")
    return unsent(request, {**typed, **({"request_key": key} if key else {})}, payable)


def unsent(request: DeskRequest, fields: Mapping[str, Any], payable: list[Currency]) -> NewWithdrawalForm:
    """The form filled in with these fields, with a request key of its own, and the payee whose recipient they are."""
    payees = _offered(accounts.current(request), fields.get("currency", ""))
    payee = next((row.pk for row in payees if _is_of(row, fields)), "")
    initial = {"request_key": fresh_key(), **fields, "payee": payee}
    return NewWithdrawalForm(initial=initial, currencies=payable, payees=payees)


def _offered(account: Account | None, currency: str) -> list[Payee]:
    return [] if account is None else book.usable(account=account, currency=currency, now=clock.now())


def _is_of(row: Payee, fields: Mapping[str, Any]) -> bool:
    address, payment_id = (str(fields.get(name, "")).strip() for name in ("address", "payment_id"))
    return (
        fields.get("currency") == row.currency
        and payment_id == row.payment_id
        and destinations.same_address(code=row.currency, one=address, other=row.address)
    )
