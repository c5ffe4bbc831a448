"""What browsers follow of one public market: its ticker, its book, its trades, its candles of one period, older ones.

`symbol:<key>` carries hints and ticks, `history:<key>.<period>` hints only, the others ticks only. The exchange is free
in naming its symbols and a topic is limited to few characters; still two symbols must never get the same key: a page
would show the other one's prices.
"""

import hashlib
import re
from functools import lru_cache
from typing import Literal

Kind = Literal["symbol", "book", "trades", "candles", "history"]

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)
_DIGEST = 40


@lru_cache(maxsize=4_096)
def topic(symbol: str, kind: Kind = "symbol", *, period: str = "") -> str:
    """The topic: "book:ETHBTC", "candles:ETHBTC.M30". `period` is for candles and their history."""
    return f"{kind}:{_key(symbol)}.{period}" if period else f"{kind}:{_key(symbol)}"


def _key(symbol: str) -> str:
    """The code itself where it is plain; else a point, with which no plain code begins, and a digest."""
    if _PLAIN.fullmatch(symbol):
        return symbol
    return "." + hashlib.sha256(symbol.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
