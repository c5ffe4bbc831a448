"""Cash accounts: one field for an account or an address, with what is known and proven about it."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from chaindata.cash_accounts import accounts
from chaindata.shared.access import readable, target
from chaindata.tools.forms import plain_input
from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest

PAGE = "chaindata/accounts.html"
PARTS = {name: f"chaindata/accounts/_{name}.html" for name in ("account", "registrations", "owned")}


class LookupForm(forms.Form):
    """A cash account, or an address whose accounts are looked for."""

    q = forms.CharField(
        label="Account or address",
        max_length=accounts.LONGEST,
        widget=plain_input(placeholder="Jonathan#100"),
        error_messages={
            "required": "Enter an account such as Jonathan#100, or an address.",
            "max_length": "This is too long for an account or address.",
        },
    )


@require_safe
@readable
def cash_accounts(request: DeskRequest) -> HttpResponse:
    """The page with the account or the accounts of the address; for anything else a sentence beside the field."""
    form = LookupForm(request.GET) if "q" in request.GET else LookupForm()
    context: dict[str, Any] = {"now": clock.now(), "form": form}
    if form.is_bound and form.is_valid():
        try:
            context |= _parts(accounts.read_query(text=form.cleaned_data["q"]), target(request), context["now"])
        except accounts.CannotLookUp as problem:
            form.add_error("q", str(problem))
    return show(request, PAGE, context, parts=PARTS, status=422 if form.errors else 200)


def _parts(query: accounts.Query, part: str, now: Any) -> dict[str, Any]:
    """The contexts of the requested parts."""
    context: dict[str, Any] = {"query": query}
    identifier = query.identifier
    if identifier is None:
        return context | {"owned": accounts.accounts_paying(address=query.address, now=now)}
    readers: dict[str, Callable[[], Any]] = {
        "account": lambda: accounts.look_up(identifier=identifier, now=now),
        "registrations": lambda: accounts.check(identifier=identifier, now=now),
    }
    return context | {name: read() for name, read in readers.items() if part not in PARTS or part == name}
