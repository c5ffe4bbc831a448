"""What a kept answer must not have: members that hold a secret by their name, and texts that are known to be one."""

import re
from collections.abc import Collection
from typing import Final

from wire.params import MASK

MOST_CHARACTERS: Final = 200_000  # of an answer that is kept: who needs a long listing whole takes the page's file
_SECRET_MEMBER: Final = re.compile(
    r'("(?:\w*(?:secret|password|private_?key|mnemonic|authorization|api_?key|skey)\w*|\w*wif)"\s*:\s*)"(?:[^"\\]|\\.)*"',
    re.IGNORECASE | re.ASCII,
)


def redacted(body: bytes, hidden: Collection[str] = ()) -> str:
    """The answer as text, cut at the bound, every secret in it masked; figures stay as they came, digit for digit."""
    text = body.decode("utf-8", "replace").replace("\x00", "\ufffd")
    text = _SECRET_MEMBER.sub(rf'\1"{MASK}"', text)
    for secret in hidden:
        if secret:
            text = text.replace(secret, MASK)
    return text[:MOST_CHARACTERS]
