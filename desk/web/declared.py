"""What this room declares to the desk: how long answers to repeated requests are kept."""

from typing import Final

from desk.rows.retention import Retention
from desk.web import idempotency
from desk.web.models import KeyedRequest

RETENTION: Final = (Retention(KeyedRequest, "began_at", lambda: idempotency.KEPT_FOR),)
