"""The code of an invitation's link: computed from the row under the key ring, stored nowhere.

The row has a digest of it alone. So the mail with the link can be written at the moment at which it leaves, and neither
the delivery nor a page of the desk holds a link that opens an account.
"""

import hashlib
import hmac
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.urls import reverse

from desk import sealing
from desk.audit import trail
from desk.staff.models import Invitation
from wire.values import Secret

if TYPE_CHECKING:
    from desk.notifications.models import Notification

SUBJECT: Final = "invitation"
PREFIX: Final = "inv_"
PLACE: Final = "[the link is only in the e-mail]"
_CONTEXT: Final = "desk.invitation"


def new_code(row: Invitation) -> Secret:
    """The code for a row that is about to be stored, under the newest key of the ring."""
    return Secret(_code_of(sealing.authenticate(_content(row), context=_CONTEXT)))


def digest_of(code: str) -> str:
    """What is stored of a code."""
    return hashlib.sha256(code.encode()).hexdigest()


def address_of(row: Invitation) -> str:
    """The whole link while it can be used, else an empty text."""
    if row.used_at is not None or row.ended_at is not None:
        return ""
    for each in sealing.codes(_content(row), context=_CONTEXT):
        code = _code_of(each)
        if hmac.compare_digest(digest_of(code), row.code_digest):
            return f"{settings.DESK_URL}{reverse('begin')}?code={code}"
    return ""


def put_into(text: str, notification: "Notification") -> str:
    """The text of a mail as it leaves: with the link of the invitation that it is about, if it is about one."""
    name, _, number = notification.subject.partition(":")
    if name != SUBJECT or PLACE not in text:
        return text
    row = Invitation.objects.filter(pk=number).first()
    address = address_of(row) if row is not None else ""
    return text.replace(PLACE, address or "This link has expired. Ask an administrator for a new one.")


def _content(row: Invitation) -> bytes:
    return trail.canonical([row.person_id, row.made_by_id, row.email, row.made_at, row.expires_at]).encode()


def _code_of(authentication: str) -> str:
    return PREFIX + authentication.rpartition(":")[2]
