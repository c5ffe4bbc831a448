"""A typed client for the interface of a Countersign desk: read figures, and draft what people decide.

    from countersign_client import Client

    with Client("https://desk.example", token="csn_...") as desk:
        for payout in desk.withdrawals_all(state="held"):
            print(payout["reference"], payout["amount"], payout["currency"])

Nothing of it approves: that takes a person and a page.
"""

from countersign_client import shapes
from countersign_client.client import Client
from countersign_client.live import Update
from countersign_client.problems import (
    KeyUsed,
    NoAnswer,
    NotAllowed,
    NotFound,
    NotSignedIn,
    Problem,
    Refused,
    StillAnswering,
    TooManyRequests,
    Unreadable,
)

__all__ = [
    "Client",
    "KeyUsed",
    "NoAnswer",
    "NotAllowed",
    "NotFound",
    "NotSignedIn",
    "Problem",
    "Refused",
    "StillAnswering",
    "TooManyRequests",
    "Unreadable",
    "Update",
    "shapes",
]
__version__ = "1.0.0"
