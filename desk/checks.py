"""Checks for `manage.py check --deploy`: what must not go live."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.db import DatabaseError, connection

from desk import database_mark, models


@register(deploy=True)
def demo_outside(**_: Any) -> list[CheckMessage]:
    """The demo, the demo on a network, and demo people outside the demo."""
    messages: list[CheckMessage] = []
    if settings.DEMO:
        why = "DEMO=1 is set" if settings.DEMO_IS_NAMED else "no address of a live system is set"
        sentence = f"This is a demo desk, because {why}: its users have published passwords."
        hint = "For a real desk, set EXCHANGE_URL, EXCHANGE_WS_URL, CHAINDATA_URL and DEMO=0."
        messages.append(Warning(sentence, hint=hint, id="desk.W001"))
    if settings.DEMO and settings.LISTEN not in {"127.0.0.1", "::1"}:
        sentence = (
            f"The demo listens on {settings.LISTEN}: anyone who can reach this machine can sign in with the "
            "published passwords."
        )
        messages.append(Warning(sentence, hint="Set LISTEN=127.0.0.1.", id="desk.W002"))
    return [*messages, *_of_the_database()]


def _of_the_database() -> list[CheckMessage]:
    try:
        if models.DatabaseMark._meta.db_table not in connection.introspection.table_names():
            return []
        database_mark.require()
    except DatabaseError:
        sentence = "The database is not responding, so it could not be checked for demo users."
        return [Warning(sentence, id="desk.W003")]
    except database_mark.WrongDatabase as reason:
        return [Error(str(reason), id="desk.E001")]
    return []
