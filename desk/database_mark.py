"""Marks a database as a demo or a real desk when it is first prepared, and checks the mark at every start.

The demo's people have published passwords and one published second factor. A database with them never becomes that of a
real desk, and they are never loaded into a real desk's database.
"""

from datetime import datetime

from allauth.mfa.models import Authenticator
from django.conf import settings

from desk import models, sealing
from desk.people import demo, totp


class WrongDatabase(Exception):
    """The desk does not start on this database; the text says why and what to do."""


def prepare(*, now: datetime) -> None:
    """Mark a database that has no mark yet, then check the mark. Raises WrongDatabase.

    A new database becomes a demo only where DEMO=1 is set, never because no address of a real system is.
    """
    if not models.DatabaseMark.objects.exists():
        has_people = models.Person.objects.exists()
        if settings.DEMO and not settings.DEMO_IS_NAMED and not has_people:
            raise WrongDatabase(
                "This database is new, and neither DEMO nor the address of a live system is set. For a demo, whose "
                "passwords are published, set DEMO=1; for a real desk, set EXCHANGE_URL, EXCHANGE_WS_URL and "
                "CHAINDATA_URL."
            )
        # A database from before there were marks is judged by its people.
        is_demo = bool(demo_people()) if has_people else settings.DEMO
        models.DatabaseMark.objects.get_or_create(pk=1, defaults={"is_demo": is_demo, "made_at": now})
    require()


def require() -> None:
    """Raise WrongDatabase where the mark and DEMO differ, or where there are demo people outside the demo."""
    mark = models.DatabaseMark.objects.first()
    if mark is not None and mark.is_demo and not settings.DEMO:
        raise WrongDatabase(
            "This database holds a demo desk, whose passwords are published, but DEMO is off. Give the real desk its "
            "own database with DATABASE_URL or DATA_DIR."
        )
    if mark is not None and settings.DEMO and not mark.is_demo:
        raise WrongDatabase(
            "This database belongs to a real desk, but DEMO is on. Set DEMO=0, or give the demo its own database with "
            "DATABASE_URL or DATA_DIR."
        )
    if not settings.DEMO and (people := demo_people()):
        raise WrongDatabase(
            f"Demo users can sign in here with published passwords ({', '.join(people)}), but DEMO is off. Remove "
            "them, or set new passwords and factors for them."
        )


def demo_people() -> list[str]:
    """The names of people who still have the published password or the published second factor."""
    named = models.Person.objects.filter(username__in=demo.PEOPLE).order_by("pk")
    by_password = {person.username for person in named if person.check_password(demo.DEMO_PASSWORD)}
    apps = Authenticator.objects.filter(type=Authenticator.Type.TOTP).select_related("user")
    return sorted(by_password | {row.user.get_username() for row in apps if _is_published(row)})


def _is_published(row: Authenticator) -> bool:
    try:
        secret = sealing.unseal(row.data["secret"], context=totp.SEAL_CONTEXT)
    except sealing.CannotUnseal:
        return False
    return secret.reveal() == demo.DEMO_TOTP_SECRET
