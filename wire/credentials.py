"""How a request says who sends it."""

import base64
import hashlib
import hmac
from dataclasses import dataclass
from typing import Literal

from wire.values import Secret


@dataclass(frozen=True, slots=True)
class Credentials:
    """A key and its secret, sent as HTTP Basic or as a signature (HS256, exchange supplement 2.3)."""

    login: str
    secret: Secret
    scheme: Literal["basic", "hs256"] = "basic"

    def authorization(self, *, method: str, target: str, body: bytes, unix_s: int) -> str:
        """The Authorization header of a request with exactly these bytes."""
        if self.scheme == "basic":
            return "Basic " + base64_text(f"{self.login}:{self.secret.reveal()}")
        signed = f"{method}{unix_s}{target}".encode() + body
        signature = hmac.new(self.secret.reveal().encode(), signed, hashlib.sha256).hexdigest()
        return "HS256 " + base64_text(f"{self.login}:{unix_s}:{signature}")


def base64_text(text: str) -> str:
    """Base64 of the UTF-8 bytes."""
    return base64.b64encode(text.encode()).decode("ascii")
