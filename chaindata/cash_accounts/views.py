"""Cash accounts: one field for an account or an address, and what is known and proven of it."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from chaindata.cash_accounts import accounts
from chaindata.cash_accounts.forms import LookupForm
from chaindata.shared.access import readable, target
from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest

PAGE = "chaindata/accounts.html"
PARTS = {name: f"chaindata/accounts/_{name}.html" for name in ("account", "registrations", "owned")}


@require_safe
@readable
def cash_accounts(request: DeskRequest) -> HttpResponse:
    """The page, with what was asked for; what is neither account nor address is said beside the field."""
    form = LookupForm(request.GET) if "q" in request.GET else LookupForm()
    context: dict[str, Any] = {"now": clock.now(), "form": form}
    if form.is_bound and form.is_valid():
        try:
            context |= _found(accounts.wanted(text=form.cleaned_data["q"]), target(request), context["now"])
        except accounts.CannotLookUp as problem:
            form.add_error("q", str(problem))
    return show(request, PAGE, context, parts=PARTS, status=422 if form.errors else 200)


def _found(wanted: accounts.Wanted, part: str, now: Any) -> dict[str, Any]:
    """What the parts show that were asked for."""
    found: dict[str, Any] = {"wanted": wanted}
    identifier = wanted.identifier
    if identifier is None:
        return found | {"owned": accounts.owned(address=wanted.address, now=now)}
    readers: dict[str, Callable[[], Any]] = {
        "account": lambda: accounts.look_up(identifier=identifier, now=now),
        "registrations": lambda: accounts.check(identifier=identifier, now=now),
    }
    return found | {name: read() for name, read in readers.items() if part not in PARTS or part == name}
