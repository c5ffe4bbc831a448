"""The console for single requests, as the desk knows it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.urls import reverse

from desk import rooms
from desk.rows.retention import Retention
from desk.web.context import Entry
from desk.web.search import SHORTEST_PIECE, Hit, Scope, Search, best
from exchange_ops.console import entries
from exchange_ops.console.models import ConsoleCall
from exchange_ops.shared import rules
from exchange_ops.shared.declarations import topics


def _search(text: str, scope: Scope) -> Iterator[Hit]:
    if len(text) < SHORTEST_PIECE:
        return
    named = [(entry.name, entry) for each in entries.SERVICES.values() for entry in each.entries.values()]
    for label, entry in best(text, named):
        url = reverse("console-operation", args=[entry.service, entry.name])
        yield Hit("Console", label, f"{entry.sign} {entry.place}", url, "monitor")


ROOM: Final = rooms.Room(
    topics={"consolecall": topics.row(ConsoleCall)},
    idle_tables={"exchange_ops.consolecall": "a request sent from the console, and its response"},
    retention=(Retention(ConsoleCall, "asked_at", lambda: timedelta(days=settings.ANSWERS_KEPT_DAYS)),),
    searches=(Search(_search, 180),),
    tasks="exchange_ops.console.tasks",
    urls="exchange_ops.console.urls",
    navigation=(Entry("Console", "console", "monitor", "Control", order=250, key="z", may_see=rules.may_see),),
)
