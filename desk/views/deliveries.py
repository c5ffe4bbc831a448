"""What left the desk and whether it arrived, sending it again, and the demo's mailbox."""

from typing import Final

from django import forms
from django.conf import settings
from django.contrib import messages as notes
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from desk import clock
from desk.lists.declared import Column, List, Rows, Value
from desk.lists.filters import DatedForm
from desk.machines.mover import CannotMove
from desk.notifications import channels, delivering, messages, states
from desk.notifications.models import Delivery, Medium
from desk.people import roles
from desk.staff import links
from desk.views.rendering import show
from desk.web.requests import DeskRequest

MAILS_SHOWN = 50
ONLY_READERS = "Only administrators and auditors can see deliveries."


class DeliveryFilter(DatedForm):
    """Which deliveries to list."""

    dated, dated_label = "created_at", "Created"

    state = forms.ChoiceField(label="State", required=False, choices=[("", "Any state"), *states.TABLE.choices])
    way = forms.ChoiceField(label="Sent via", required=False, choices=[("", "Any channel"), *Medium.choices])

    def narrow(self, rows: QuerySet[Delivery]) -> QuerySet[Delivery]:
        """Only the deliveries that every filter which is set lets through."""
        chosen = self.chosen()
        rows = rows.filter(state=chosen["state"]) if "state" in chosen else rows
        return rows.filter(medium=chosen["way"]) if "way" in chosen else rows


def _rows(request: DeskRequest) -> Rows:
    return Rows(
        Delivery.objects.select_related("notification", "person", "channel"),
        topics="deliveries",
        context=lambda listing: {
            "may_keep": channels.may_keep(request.user),
            "email_is_set_up": bool(settings.EMAIL_HOST),
            "mailbox": settings.MAILBOX,
        },
    )


DELIVERIES: Final = List(
    name="deliveries",
    title="Deliveries",
    one="delivery",
    many="deliveries",
    path="deliveries/",
    template="desk/deliveries.html",
    css="reflow",
    rows=_rows,
    may_see=channels.may_read,
    refusal=ONLY_READERS,
    filters=DeliveryFilter,
    columns=(
        Column("number", "Number", Value("number", "reference", ("pk",)), css="d-number"),
        Column("about", "About", Value("about", "notification.reference"), css="d-about"),
        Value("what", "notification.title"),
        Column("why", "Reason", Value("why", "notification.get_stage_display", ("stage",)), css="d-why"),
        Value("way", "get_medium_display", ("medium",)),
        Column("to", "To", Value("person", "person.username")),
        Value("channel", "channel.name"),
        Column("state", "State", Value("state", "label", ("state",))),
        Value("problem", "last_problem"),
        Column("tries", "Attempts", Value("tries", "attempts"), is_end=True),
        Column("made", "Created", Value("made at ({zone})", "created_at"), order=("pk",), is_time=True),
        Column("again", "Send again", css="d-again"),
        Column("sent", "Sent", Value("sent at ({zone})", "sent_at"), is_shown=False, is_time=True),
    ),
    page="number about why to state tries made again sent",
)


@require_POST
def send_again(request: DeskRequest, delivery_id: int) -> HttpResponse:
    """Once more, with the same id; a receiver that has it already can tell."""
    person = request.user
    if not channels.may_read(person):
        raise PermissionDenied(ONLY_READERS)
    if not channels.may_keep(person):
        raise PermissionDenied("Only administrators can send a message again.")
    row = get_object_or_404(Delivery, pk=delivery_id)
    try:
        delivering.again(row, actor=person, session_key=request.session.session_key or "", now=clock.now())
    except CannotMove:
        notes.warning(request, f"{row.reference} not sent again: it is already being sent, or is no longer needed.")
    else:
        notes.success(request, f"{row.reference} is being sent again, with the same ID.")
    return redirect("deliveries")


@require_safe
def mailbox(request: DeskRequest) -> HttpResponse:
    """What the demo mailed: to this person, or to everybody for those who read the deliveries."""
    person = request.user
    if not person.has_role(*roles.ALL):
        raise PermissionDenied("Only people with a role can see the mailbox.")
    if not settings.MAILBOX:
        raise Http404("The mailbox exists only in a demo without a mail server.")
    rows = Delivery.objects.filter(medium=Medium.EMAIL, state=states.DELIVERED).order_by("-pk")
    sees_all = channels.may_read(person)
    if not sees_all:
        rows = rows.filter(person=person)
    mails = [
        {
            "row": row,
            "subject": messages.subject(row.notification),
            "text": links.put_into(row.content, row.notification),
        }
        for row in rows.select_related("notification", "person")[:MAILS_SHOWN]
    ]
    context = {"now": clock.now(), "mails": mails, "sees_all": sees_all, "most": MAILS_SHOWN}
    return show(request, "desk/mailbox.html", context)
