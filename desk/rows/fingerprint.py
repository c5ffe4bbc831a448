"""Four words for a digest, to compare a request on two devices, or its page with the message about it."""

from functools import cache
from typing import Final

from mnemonic import Mnemonic

WORDS: Final = 4
_BITS: Final = 11  # of one word: the list has 2,048
_DIGEST_BITS: Final = 256


def words(digest: str) -> str:
    """The first 44 bits of a digest (SHA-256 or an HMAC of it, in hex) as words of the English list of BIP 39.

    Empty where there is no such digest. Without the key of a digest nobody can search for content with equal words; by
    chance two differ in them but for one in 17 million million.
    """
    try:
        number = int(digest, 16)
    except ValueError:
        return ""
    if len(digest) * 4 != _DIGEST_BITS:
        return ""
    shifts = [_DIGEST_BITS - _BITS * (place + 1) for place in range(WORDS)]
    return " ".join(_list()[number >> shift & (1 << _BITS) - 1] for shift in shifts)


@cache
def _list() -> tuple[str, ...]:
    return tuple(Mnemonic("english").wordlist)
