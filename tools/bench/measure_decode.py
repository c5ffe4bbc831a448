"""Replies to records, against the standard library's JSON with Decimals: `python -m tools.bench.measure_decode`.

The first peer makes the same checks: plain digits, sensible sizes, missing, empty and unknown members, instants with a
zone, the character NUL. That both refuse the same is looked at before anything is measured. The second peer checks
nothing, and the third is our decoder alone, so that what the checks cost shows.
"""

import json
import random
import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from exchange_ops.wire.records import OrderBook, Ticker, Transaction
from tools.bench.rounds import line, spend
from wire import records
from wire.errors import BadReply
from wire.values import Nanoseconds

CALLS = 5
PRICES = ("ask", "bid", "last", "low", "high", "open", "volume", "volumeQuote")
_PLAIN = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_dice = random.Random(1)

Checks = dict[str, Callable[[Any], Any]]


# Replies -------------------------------------------------------------------------------------------------------------


def _number(places: int = 10) -> str:
    return f"{_dice.randrange(10 ** _dice.randrange(1, 8))}.{_dice.randrange(10**places):0{places}d}"


def _tickers(count: int) -> list[dict[str, Any]]:
    at = "2026-11-20T10:11:12.345Z"
    return [{name: _number() for name in PRICES} | {"timestamp": at, "symbol": f"C{one}BTC"} for one in range(count)]


def _transactions(count: int) -> list[dict[str, Any]]:
    same = {"currency": "ETH", "status": "success", "type": "payout", "createdAt": "2026-11-20T10:11:12.345Z"}
    return [
        same
        | {"id": f"{_dice.getrandbits(128):032x}", "index": 10**9 + one, "updatedAt": "2026-11-20T10:12:12.345Z"}
        | {"hash": f"0x{_dice.getrandbits(256):064x}", "address": f"0x{_dice.getrandbits(160):040x}"}
        | {"amount": _number(24), "fee": _number()}
        for one in range(count)
    ]


def _book(levels: int) -> dict[str, Any]:
    ask, bid = ([{"price": _number(8), "size": _number(4)} for _ in range(levels)] for _ in range(2))
    return {"symbol": "ETHBTC", "timestamp": "2026-11-20T10:11:12.345678901Z", "ask": ask, "bid": bid}


# The peer with the same checks ---------------------------------------------------------------------------------------


def _decimal(value: Any) -> Decimal:
    if isinstance(value, str):
        if len(value) > 60 or not _PLAIN.fullmatch(value):
            raise ValueError("not plain")
        return Decimal(value)
    if not isinstance(value, int | Decimal) or not -60 <= Decimal(value).adjusted() <= 60:
        raise ValueError("no sensible number")
    return Decimal(value)


def _price(value: Any) -> Decimal | None:
    return None if value is None else _decimal(value)


def _instant(value: str) -> datetime:
    instant = datetime.fromisoformat(value)
    if instant.tzinfo is None:
        raise ValueError("no zone")
    return instant


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("no text")
    return value


def _whole_number(value: Any) -> int:
    if not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise ValueError("no whole number")
    return value


def _levels(value: list[Any]) -> list[dict[str, Any]]:
    return [_object(level, LEVEL, LEVEL.keys()) for level in value]


LEVEL: Checks = {"price": _decimal, "size": _decimal}
BOOK: Checks = {"symbol": _text, "timestamp": Nanoseconds.from_text, "ask": _levels, "bid": _levels}
TICKER: Checks = dict.fromkeys(PRICES, _price) | {"volume": _decimal, "volumeQuote": _decimal}
TICKER |= {"timestamp": _instant, "symbol": _text}
TRANSACTION: Checks = dict.fromkeys(("id", "currency", "status", "type", "hash", "address"), _text)
TRANSACTION |= {"index": _whole_number, "amount": _decimal, "fee": _price, "createdAt": _instant, "updatedAt": _instant}
_aside: dict[str, int] = {}


def _object(value: dict[str, Any], checks: Checks, required: Any) -> dict[str, Any]:
    fields = {}
    for name, item in value.items():
        check = checks.get(name)
        if check is None:
            _aside[name] = _aside.get(name, 0) + 1
        else:
            fields[name] = check(item)
    if not required <= fields.keys():
        raise ValueError("missing members")
    return fields


def _checked(body: bytes, checks: Checks) -> Any:
    if b"\\" in body and b"\\u0000" in body:
        raise ValueError("NUL")
    read = json.loads(body, parse_float=Decimal)
    if isinstance(read, list):
        return [_object(item, checks, checks.keys()) for item in read]
    return _object(read, checks, checks.keys())


def _refuse_the_same() -> None:
    good = _tickers(1)[0]
    flaws: list[dict[str, Any]] = [{"ask": text} for text in ("1_0", "+1", " 1", "1e5", "NaN", "\u0661", "9" * 62)]
    flaws += [{"symbol": ""}, {"symbol": "\0"}, {"timestamp": "2026-11-20T10:11:12"}, {"volume": None}, {"ask": []}]
    for flaw in flaws:
        body = json.dumps([good | flaw]).encode()
        ways: list[Callable[[bytes], Any]] = [lambda body: records.decode(body, list[Ticker])]
        ways.append(lambda body: _checked(body, TICKER))
        for way in ways:
            try:
                way(body)
            except (BadReply, ValueError):
                continue
            raise SystemExit(f"{flaw} was taken; nothing was measured.")


# The others ----------------------------------------------------------------------------------------------------------


def _unchecked(body: bytes, names: tuple[str, ...]) -> Any:
    read = json.loads(body)
    for item in read if isinstance(read, list) else [*read["ask"], *read["bid"]]:
        for name in names:
            item[name] = Decimal(item[name])
    return read


def _times(way: Callable[[], Any]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(CALLS):
            way()

    return run


def _measure(what: str, reply: Any, kind: type[records.Record], checks: Checks, names: tuple[str, ...]) -> None:
    body = json.dumps(reply, separators=(",", ":")).encode()
    reply_type: Any = list[kind] if isinstance(reply, list) else kind  # type: ignore[valid-type]
    alone = msgspec.json.Decoder(reply_type, dec_hook=lambda _, value: Nanoseconds.from_text(value))
    ours, checked, unchecked, bare = spend(
        _times(lambda: records.decode(body, reply_type)),
        _times(lambda: _checked(body, checks)),
        _times(lambda: _unchecked(body, names)),
        _times(lambda: alone.decode(body)),
        pieces=CALLS,
    )
    peers = [("json + Decimal with the same checks", checked, 1.7), ("json + Decimal unchecked", unchecked, 1)]
    for peer, peer_ms, target in [*peers, ("msgspec unchecked", bare, 0.6)]:
        print(line(what=f"decode {what}", ours_ms=ours, peer=peer, peer_ms=peer_ms, target=target), flush=True)


def main() -> None:
    """Print three lines for each kind of reply, and two for lists that are not as documented."""
    _refuse_the_same()
    tickers = _tickers(1000)
    _measure("1,000 tickers", tickers, Ticker, TICKER, PRICES)
    _measure("1,000 transactions", _transactions(1000), Transaction, TRANSACTION, ("amount", "fee"))
    _measure("a book of 2 x 1,000 levels", _book(1000), OrderBook, BOOK, ("price", "size"))
    flawed = json.dumps([*tickers[:-1], {**tickers[-1], "ask": "+1"}]).encode()
    newer = json.dumps([ticker | {"new": 1} for ticker in tickers]).encode()
    good = json.dumps(tickers).encode()
    thousand_ms, one_bad, unknown = spend(
        *(_times(lambda body=body: records.decode_each(body, Ticker)) for body in (good, flawed, newer)),  # type: ignore[misc]
        pieces=CALLS,
    )
    for peer, peer_ms in (("with a bad one", one_bad), ("with a new member each", unknown)):
        print(
            line(what="read each of 1,000 tickers", ours_ms=thousand_ms, peer=peer, peer_ms=peer_ms, target=1),
            flush=True,
        )


if __name__ == "__main__":
    main()
