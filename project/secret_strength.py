"""Whether a secret of the settings can be guessed (standard library only)."""

import math
import zlib

from project.environment import OddSetting

_SHORTEST_SECRET = 50
_LEAST_BITS = 128
# What zlib adds to any text: its head, its checksum and the end of its only block.
_PACKING_BYTES = 8
_KNOWN_SECRETS = (
    "djangoinsecure",
    "changeme",
    "changethis",
    "insecure",
    "secretkey",
    "password",
    "example",
    "countersign",
)


def require_strong(name: str, value: str) -> None:
    """Stop the start when a secret can be guessed: short, known, repeated, or of few characters. Never repeats it.

    What a text could carry at most is judged twice: by how often each character stands in it, and by how far it can be
    packed, which shows repetition. Either must leave 128 bits.
    """
    plain = "".join(character for character in value.lower() if character.isalnum())
    counts = [value.count(character) / len(value) for character in set(value)]
    by_characters = -sum(share * math.log2(share) for share in counts) * len(value)
    by_packing = 8 * (len(zlib.compress(value.encode(), 9)) - _PACKING_BYTES)
    published_word = next((word for word in _KNOWN_SECRETS if word in plain), None)
    if len(value) < _SHORTEST_SECRET:
        why = f"it has {len(value)} characters and needs at least {_SHORTEST_SECRET}"
    elif published_word is not None:
        why = f"it contains {published_word!r}, as published examples do"
    elif min(by_characters, by_packing) < _LEAST_BITS:
        why = "it repeats itself or uses too few different characters"
    else:
        return
    raise OddSetting(
        f"{name} is too weak: {why}. Anyone who guesses it can forge sessions. Generate one with "
        "python3 -c 'import secrets; print(secrets.token_urlsafe(60))'."
    )
