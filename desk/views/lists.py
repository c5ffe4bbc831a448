"""What a person keeps of a list, and how a list opens with the filter that they made its default."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages as notes
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from desk.lists import kept
from desk.lists.declared import LISTS, List
from desk.lists.exports import KINDS
from desk.lists.listing import CannotExport, Listing, export
from desk.lists.models import LONGEST_NAME, SavedFilter
from desk.models import Person
from desk.people import roles
from desk.views.rendering import show
from desk.web.requests import DeskRequest

View = Callable[..., HttpResponseBase]


def opens(declared: List) -> Callable[[View], View]:
    """Have a list whose address says nothing open with the person's default filter, if they chose one."""

    def decorate(view: View) -> View:
        @wraps(view)
        def opened(request: DeskRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
            is_bare = not request.GET and not request.headers.get("HX-Request")
            query = kept.opening(request.user, declared) if is_bare else ""
            if query:
                return redirect(f"{reverse(declared.route)}?{query}")
            return view(request, *arguments, **named)

        return opened

    return decorate


def file(listing: Listing, kind: str) -> HttpResponseBase:
    """The list as a file: all that is filtered, or what was chosen of it and sent by POST."""
    if kind not in KINDS:
        raise Http404("Lists are exported as CSV or JSON.")
    chosen = listing.request.POST.getlist("row") if listing.request.method == "POST" else None
    try:
        return export(listing, kind=kind, chosen=chosen)
    except CannotExport as problem:
        notes.error(listing.request, f"Nothing was exported. {problem}")
        return _back(listing.declared, listing.request.GET.urlencode())


@require_POST
def keep(request: DeskRequest, list_name: str) -> HttpResponseBase:
    """Keep the columns and the page size."""
    person, declared = _named(request, list_name)
    posted = request.POST
    try:
        kept.keep(person, declared, columns=posted.getlist("column"), size=posted.get("size", ""))
    except kept.CannotKeep as problem:
        notes.error(request, str(problem))
    return _back(declared, posted.get("query", ""))


@require_POST
def save(request: DeskRequest, list_name: str) -> HttpResponseBase:
    """Keep the filters and the order under a name."""
    person, declared = _named(request, list_name)
    name, query = request.POST.get("name", ""), request.POST.get("query", "")
    try:
        row = kept.save(person, declared, name=name, query=query)
    except kept.CannotKeep as problem:
        return _name_again(request, declared, str(problem), name=name, query=query)
    notes.success(request, f"Filter “{row.name}” saved.")
    return _back(declared, row.query)


@require_POST
def change(request: DeskRequest, list_name: str, saved_id: int) -> HttpResponseBase:
    """Rename a saved filter, make it the default or not, or delete it."""
    person, declared = _named(request, list_name)
    row = get_object_or_404(SavedFilter, pk=saved_id, person=person, list_name=declared.name)
    posted, query = request.POST, row.query
    if posted.get("action") == "rename":
        try:
            kept.rename(row, name=posted.get("name", ""))
        except kept.CannotKeep as problem:
            return _name_again(request, declared, str(problem), name=posted.get("name", ""), query=query, row=row)
    elif posted.get("action") == "delete":
        row.delete()
        notes.success(request, f"Filter “{row.name}” deleted.")
    elif posted.get("action") in {"default", "no-default"}:
        kept.set_default(row, is_default=posted["action"] == "default")
    return _back(declared, query)


def _named(request: DeskRequest, list_name: str) -> tuple[Person, List]:
    person = request.user
    if not person.has_role(*roles.ALL):
        raise PermissionDenied("Only somebody with a role keeps lists.")
    if list_name not in LISTS:
        raise Http404("There is no such list.")
    return person, LISTS[list_name]


def _back(declared: List, query: str) -> HttpResponse:
    bare = kept.bare_query(query)
    return redirect(f"{reverse(declared.route)}?{bare or 'saved=none'}")


def _name_again(
    request: DeskRequest, declared: List, problem: str, *, name: str, query: str, row: SavedFilter | None = None
) -> HttpResponse:
    context = {
        "declared": declared,
        "problem": problem,
        "name": name,
        "query": kept.bare_query(query),
        "row": row,
        "longest_name": LONGEST_NAME,
        "back": f"{reverse(declared.route)}?{kept.bare_query(query) or 'saved=none'}",
    }
    return show(request, "desk/lists/name.html", context, status=422)
