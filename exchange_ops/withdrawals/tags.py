"""The tag by which a hold is known as ours in the exchange's ledger, without saying anything to anybody else.

It travels as publicComment, so it is a keyed hash: no name, no number, no text of a person.
"""

import base64
import hashlib
import hmac

from django.conf import settings

PREFIX = "tx-"
_LENGTH = 26


def tag(*, withdrawal_id: int, attempt: int) -> str:
    """The tag of one attempt of one withdrawal: the same for ever, another for each attempt."""
    key = hashlib.sha256(b"countersign.withdrawal-tag|" + settings.SECRET_KEY.encode()).digest()
    mac = hmac.new(key, f"{withdrawal_id}|{attempt}".encode(), hashlib.sha256).digest()
    return PREFIX + base64.b32encode(mac).decode()[:_LENGTH]
