"""What browsers follow of one public market: its ticker, its book, its trades, its candles of one period, older ones.

`symbol:<key>` carries hints as well as ticks, `history:<key>.<period>` hints alone, the others ticks alone. The
exchange names its symbols as it likes and a topic has few characters, so two symbols must never come to the same key: a
page would show the other one's prices.
"""

import hashlib
import re
from functools import lru_cache
from typing import Literal

Kind = Literal["symbol", "book", "trades", "candles", "history"]

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)
_DIGEST = 40


@lru_cache(maxsize=4_096)
def of(symbol: str, kind: Kind = "symbol", *, period: str = "") -> str:
    """The topic: "book:ETHBTC", "candles:ETHBTC.M30". `period` is for candles and their history."""
    return f"{kind}:{_key(symbol)}.{period}" if period else f"{kind}:{_key(symbol)}"


def _key(symbol: str) -> str:
    """The code itself where it is plain; else a point, with which no plain code begins, and a digest."""
    if _PLAIN.fullmatch(symbol):
        return symbol
    return "." + hashlib.sha256(symbol.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
