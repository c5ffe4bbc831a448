"""Needs action: everything that waits for a person, the comments on it and the files attached to it."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.crypto import get_random_string
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from desk import clock
from desk.actions import attachments, entries, listing, selection, threads
from desk.actions.file_field import FileField
from desk.actions.models import Attachment
from desk.incidents import queries
from desk.incidents.kinds import Severity
from desk.models import Person
from desk.notifications import mentions
from desk.people import roles
from desk.views.rendering import show
from desk.web.requests import scope_of

THREAD = "desk/action/_thread.html"
MOST_NAMED = 3


class CommentForm(forms.Form):
    """One comment. Its limits are checked where it is stored, so that nothing typed is lost."""

    text = forms.CharField(
        label="Add a comment",
        help_text="Visible to colleagues. A comment is not an approval. Use @name to notify someone.",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    request_key = forms.CharField(required=False, widget=forms.HiddenInput)


class FileForm(forms.Form):
    """One file."""

    file = FileField(label="Attach a file")
    request_key = forms.CharField(required=False, widget=forms.HiddenInput)


class ListingForm(forms.Form):
    """The filter of the list. Invalid values are ignored."""

    list = forms.ChoiceField(required=False, choices=[*listing.GROUPS.items()])
    source = forms.CharField(required=False, max_length=30)
    severity = forms.ChoiceField(required=False, choices=[("", "Any severity"), *Severity.choices])
    q = forms.CharField(required=False, max_length=100)
    sort = forms.ChoiceField(required=False, choices=[*listing.SORTS.items()])
    page = forms.IntegerField(required=False, min_value=1)

    def wish(self, *, first: str, source: str, scope: str) -> listing.Wish:
        """The chosen filter; `first` is the group where none is named, `scope` the account in the path."""
        self.is_valid()
        chosen = self.cleaned_data
        names = {each.name for each in entries.sources()}
        return listing.Wish(
            group=chosen.get("list") or first,
            source=source or (chosen.get("source", "") if chosen.get("source") in names else ""),
            severity=chosen.get("severity", ""),
            words=chosen.get("q", ""),
            sort=chosen.get("sort") or "urgency",
            scope=scope,
            page=chosen.get("page") or 1,
        )


def page(source: str = "") -> Callable[[HttpRequest], HttpResponse]:
    """The page of everything, or of one source alone."""

    @require_safe
    def action(request: HttpRequest) -> HttpResponse:
        return _listed(request, _reader(request), source)

    return action


def _listed(request: HttpRequest, person: Person, source: str) -> HttpResponse:
    """One of the groups, with the size of each."""
    now, form = clock.now(), ListingForm(request.GET)
    sources = {each.name: each for each in entries.sources()}
    waits = any(person.has_role(*each.acts) for each in sources.values() if source in {"", each.name})
    wish = form.wish(first=listing.MINE if waits else listing.OTHERS, source=source, scope=scope_of(request))
    inbox = listing.listing_for(person, wish, now=now)
    topics = dict.fromkeys(topic for each in sources.values() for topic in each.topics().split())
    context = {
        "now": now,
        "wish": wish,
        "tabs": [(name, label, inbox.counts.get(name)) for name, label in listing.GROUPS.items()],
        "inbox": inbox,
        "only": sources.get(source),
        "sources": list(sources.values()),
        "severities": Severity.choices,
        "sorts": listing.SORTS.items(),
        "topics": " ".join((*topics, threads.TOPIC)),
        "selectable": selection.names() if person.has_role(roles.TREASURY) else frozenset(),
        "empty": _empty(wish, sources),
    }
    return show(request, "desk/action.html", context, parts={"inbox": "desk/action/_inbox.html"})


def _empty(wish: listing.Wish, sources: dict[str, entries.Source]) -> str:
    if wish.words or wish.severity:
        return "No items match your search."
    if wish.group == listing.MINE:
        return sources[wish.source].empty if wish.source else "No items need your action."
    return {
        listing.OTHERS: "No items are waiting for others.",
        listing.SOON: f"No items expire within {int(entries.SOON.total_seconds()) // 60} minutes.",
        listing.ALL: "No open items.",
        listing.WATCHING: "You are not watching any items. Items you request, comment on or assign to yourself are "
        "listed here.",
        listing.ASSIGNED: "No items are assigned to you.",
        listing.DONE: "No decisions yet.",
    }[wish.group]


def on_every_page(request: HttpRequest) -> dict[str, Any]:
    """The variable `alarms` of every template, for the bar; read only by pages that have one."""
    person = getattr(request, "user", None)
    if not (isinstance(person, Person) and person.has_role(*roles.ALL)) or getattr(request, "enrols", False):
        return {"alarms": {}}
    return {"alarms": SimpleLazyObject(lambda: _alarms(person, scope_of(request)))}


def _alarms(person: Person, scope: str) -> dict[str, Any]:
    """The gravest incident, and how many more there are."""
    rows = list(queries.of_scope(queries.critical(person), scope)[: entries.MOST])
    return {"first": rows[:1], "more": len(rows) - 1, "severity": Severity.CRITICAL.value}


@require_http_methods(["GET", "HEAD", "POST"])
def thread(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """The comments on something, with a form for one more."""
    person = _writer(request) if request.method == "POST" else _reader(request)
    back = _page_of(person, name, number)
    if request.method != "POST":
        return _thread(request, person, name, number)
    form = CommentForm(request.POST)
    form.is_valid()
    try:
        mentions.comment(
            subject=f"{name}:{number}",
            person=person,
            text=form.cleaned_data.get("text", ""),
            request_key=form.cleaned_data.get("request_key") or get_random_string(20),
            now=clock.now(),
            session_key=request.session.session_key or "",
        )
    except threads.CannotSay as problem:
        form.add_error("text", str(problem))
        return _thread(request, person, name, number, form=form, status=422)
    return _thread(request, person, name, number) if _is_part(request) else redirect(f"{back}#thread")


@require_POST
def take_on(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Take something on, or put it back."""
    person, change = _writer(request), threads.put_back if "put_back" in request.POST else threads.take_on
    back = _page_of(person, name, number)
    changed = change(
        subject=f"{name}:{number}",
        person=person,
        now=clock.now(),
        session_key=request.session.session_key or "",
    )
    if _is_part(request):
        return _thread(request, person, name, number, is_late=not changed)
    return redirect(f"{back}#thread")


@require_POST
def attach(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Attach a file."""
    person = _writer(request)
    back = _page_of(person, name, number)
    form = FileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _thread(request, person, name, number, file_form=form, status=422)
    try:
        attachments.attach(
            subject=f"{name}:{number}",
            person=person,
            file=form.cleaned_data["file"],
            request_key=form.cleaned_data["request_key"] or get_random_string(20),
            now=clock.now(),
            session_key=request.session.session_key or "",
        )
    except threads.CannotSay as problem:
        form.add_error("file", str(problem))
        return _thread(request, person, name, number, file_form=form, status=422)
    return _thread(request, person, name, number) if _is_part(request) else redirect(f"{back}#thread")


@require_safe
def attached(request: HttpRequest, name: str, number: int, file_id: int) -> HttpResponseBase:
    """A file as it was attached, to be saved and never shown as a page of the desk."""
    person = _reader(request)
    _page_of(person, name, number)
    row = get_object_or_404(Attachment.objects.select_related("person"), pk=file_id, subject=f"{name}:{number}")
    try:
        content = BytesIO(attachments.content_of(row))
    except attachments.CannotRead as problem:
        return _thread(request, person, name, number, damaged=str(problem), status=409)
    response = FileResponse(content, as_attachment=True, filename=row.name, content_type=row.media_type)
    response["Cache-Control"] = "no-store"
    return response


def _thread(
    request: HttpRequest, person: Person, name: str, number: int, *, status: int = 200, **words: Any
) -> HttpResponse:
    subject = f"{name}:{number}"
    context = {
        "now": clock.now(),
        "name": name,
        "number": number,
        "comments": threads.comments(subject),
        "files": attachments.of(subject),
        "taken_by": threads.taken_by([subject]).get(subject),
        "may_write": _may_write(person),
        "may_take": _may_write(person) and name != "incident",  # one takes an incident by acknowledging it
        "back": _page_of(person, name, number),
        "form": CommentForm(initial={"request_key": get_random_string(20)}),
        "file_form": FileForm(initial={"request_key": get_random_string(20)}),
        **words,
    }
    template = THREAD if _is_part(request) else "desk/thread.html"
    return show(request, template, context, parts={"remarks": "desk/action/_remarks.html"}, status=status)


def _page_of(person: Person, name: str, number: int) -> str:
    address = entries.page_of(person, name, number)
    if not address:
        raise Http404("Item not found.")
    return address


def _reader(request: HttpRequest) -> Person:
    """The person who asks: everybody with a role may read the list."""
    person = request.user
    if not (isinstance(person, Person) and person.has_role(*roles.ALL)):
        raise PermissionDenied("Your roles don't allow this.")
    return person


def _writer(request: HttpRequest) -> Person:
    """The person who asks; auditors are refused, since they only read."""
    person = _reader(request)
    if not _may_write(person):
        raise PermissionDenied("Auditors have read access only.")
    return person


def _may_write(person: Person) -> bool:
    return person.has_role(roles.OPERATOR, roles.TREASURY, roles.ADMIN)


def _is_part(request: HttpRequest) -> bool:
    """Whether htmx asks for the part alone."""
    return bool(getattr(request, "htmx", None))
