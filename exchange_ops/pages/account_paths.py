"""The account in the path of every page and resource of the desk, and which rows belong to it."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import Resolver404, get_script_prefix, resolve, set_script_prefix
from django.utils.functional import SimpleLazyObject

from desk import rooms
from desk.incidents.models import Incident
from desk.people import roles, scopes
from exchange_ops.shared.views import accounts

NO_ROW: Final = 0
# Threads name their row in two parts.
THREADS: Final = {"withdrawal": "withdrawal_id", "transfer": "transfer_id", "order": "order_id"}


class AccountPathMiddleware:
    """Strip /accounts/N from the path, answer as account N, and prefix every address in the answer with it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._answer = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path_match = accounts.PATH.fullmatch(request.path_info)
        if path_match is None:
            return self._answer(request)
        before = get_script_prefix()
        request.account_number, request.path_info = int(path_match[1]), path_match[2] or "/"  # type: ignore[attr-defined]
        set_script_prefix(f"{before}accounts/{path_match[1]}/")
        try:
            return self._answer(request)
        finally:
            set_script_prefix(before)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: dict[str, Any]) -> None:
        """404 for a row of another account, and for an account at which the person has no role."""
        number = accounts.number(request)
        # The resource reads a program's token and then calls this with its person (`desk.people.tokens`).
        request.enter = partial(_enter, request, kwargs=dict(kwargs))  # type: ignore[attr-defined]
        if request.user.is_authenticated:
            _enter(request, request.user, kwargs)
        if number is None:
            return
        foreign = [name for name, value in _named(kwargs).items() if not _is_of(number, name, value)]
        if not request.user.is_authenticated:
            # A stranger learns nothing, and a program whose token the resource reads finds no such row.
            kwargs.update(dict.fromkeys(set(foreign) & set(kwargs), NO_ROW))
            return
        account = accounts.chosen(request)
        if foreign or account is None:
            raise Http404("This record belongs to a different account.")
        is_looked_at = request.method == "GET" and not request.headers.get("HX-Request")
        if is_looked_at and request.session.get(accounts.LAST) != account.pk:
            request.session[accounts.LAST] = account.pk

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Redirect a page that needs an account to the last one used; for a form without an account none is guessed."""
        if not isinstance(exception, accounts.ChooseAccount) or request.method not in {"GET", "HEAD"}:
            return None
        if request.headers.get("HX-Request"):
            # The page was loaded when there was only one account: a reload asks which one it is about.
            return HttpResponse(status=204, headers={"HX-Refresh": "true"})
        return HttpResponseRedirect(path_of(accounts.preferred(request), request.get_full_path()))


def _enter(request: HttpRequest, person: Any, kwargs: dict[str, Any]) -> None:
    """Check the person's roles at the account of the request. Raises Http404 where they have none."""
    if not person.limits:
        return
    number, held = accounts.number(request), person.scopes(*roles.ALL)
    for name, value in _named(kwargs).items():
        owners = _owners(name, value)
        mine = [owner for owner in owners if scopes.may_see(person, owner)]
        if owners and not mine:
            raise Http404("Account not found.")
        if mine and number is None:
            scopes.enter(person, mine[0])
    if number is not None and not scopes.enter(person, str(number)):
        raise Http404("Account not found.")
    if number is None and person.here is None and held is not None and len(held) == 1:
        scopes.enter(person, next(iter(held)))  # a desk of one account


def _owners(name: str, value: Any) -> list[str]:
    """The accounts of the rows that a part of the path names: none, one, or several that use the same number."""
    if name == "incident_id":
        return [scope for scope in Incident.objects.filter(pk=value).values_list("scope", flat=True) if scope]
    if name not in (named := rooms.paths()):
        return []
    model, key, owner = named[name]
    rows: QuerySet[Any] = model._default_manager.filter(**{key: value})
    return [str(number) for number in rows.order_by(owner).values_list(owner, flat=True)]


def path_of(account: int | None, path: str) -> str:
    """The same path at one account, or at all of them."""
    return path if account is None else f"/accounts/{account}{path}"


def choices(request: HttpRequest) -> dict[str, Any]:
    """The variable `switch` of every template: the accounts to choose from, if there are several."""
    return {"switch": SimpleLazyObject(lambda: _switch(request))}


def _switch(request: HttpRequest) -> dict[str, Any]:
    rows = list(accounts.of_reader(request))
    if len(rows) < 2:
        return {}
    here, path = accounts.number(request), _without_rows(request)
    return {
        "accounts": [{"account": row, "url": path_of(row.pk, path), "is_chosen": row.pk == here} for row in rows],
        "chosen": next((row for row in rows if row.pk == here), None),
        "names": {str(row.pk): row.name for row in rows},
        "all_url": path,
    }


def _without_rows(request: HttpRequest) -> str:
    """The page's path without the account, or the first page if the path names a row of one account."""
    try:
        route = resolve(request.path_info)
    except Resolver404:
        return "/"
    return "/" if set(route.kwargs) & {*rooms.paths(), "incident_id", "name"} else quote(request.path_info)


def _named(kwargs: dict[str, Any]) -> dict[str, Any]:
    if "number" not in kwargs or "name" not in kwargs:
        return kwargs
    if kwargs["name"] in THREADS:
        return {THREADS[kwargs["name"]]: kwargs["number"]}
    if kwargs["name"] == "incident":
        return {"incident_id": kwargs["number"]}
    return kwargs


def _is_of(account: int, name: str, value: Any) -> bool:
    """Whether the row that the path names belongs to the account. A missing row is left to the page."""
    if name == "incident_id":
        scope = Incident.objects.filter(pk=value).values_list("scope", flat=True).first()
        return scope in {None, "", str(account)}
    if name not in (named := rooms.paths()):
        return True
    model, key, owner = named[name]
    rows: QuerySet[Any] = model._default_manager.filter(**{key: value})
    return not rows.exists() or rows.filter(**{owner: account}).exists()
