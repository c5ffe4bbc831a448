"""What a database is, a demo or a real desk: set when it is first prepared, and held against the settings ever after.

The demo's people have published passwords and one published second factor. A database that has them is never a real
desk's, whatever addresses it is pointed at later, and a real desk's is never loaded with them.
"""

from datetime import datetime

from allauth.mfa.models import Authenticator
from django.conf import settings

from desk import models, sealing
from desk.people import demo, totp


class WrongDatabase(Exception):
    """The desk does not start on this database; the text says why and what to do."""


def prepare(*, now: datetime) -> None:
    """Mark a database that has no mark yet, then hold it against the settings. Raises WrongDatabase."""
    if not models.DatabaseMark.objects.exists():
        # One that is older than the mark is what its people say.
        is_demo = bool(demo_people()) if models.Person.objects.exists() else settings.DEMO
        models.DatabaseMark.objects.get_or_create(pk=1, defaults={"is_demo": is_demo, "made_at": now})
    require()


def require() -> None:
    """Raises WrongDatabase where the mark and DEMO differ, or where demo people are found outside the demo."""
    mark = models.DatabaseMark.objects.first()
    if mark is not None and mark.is_demo and not settings.DEMO:
        raise WrongDatabase(
            "This database holds a demo desk, whose passwords are published, and DEMO is off: give the real desk a "
            "database of its own with DATABASE_URL or DATA_DIR."
        )
    if mark is not None and settings.DEMO and not mark.is_demo:
        raise WrongDatabase(
            "This database belongs to a real desk and DEMO is on: set DEMO=0, or give the demo a database of its own "
            "with DATABASE_URL or DATA_DIR."
        )
    if not settings.DEMO and (people := demo_people()):
        raise WrongDatabase(
            f"Demo people can sign in here with published passwords ({', '.join(people)}) and DEMO is off: "
            "remove them, or give them passwords and factors of their own."
        )


def demo_people() -> list[str]:
    """Names of those who still have the published password or the published second factor."""
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
