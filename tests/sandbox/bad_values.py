"""Arguments that are wrong, and ones that are right, made from the rows of a catalogue: a new row is covered by itself.

`refused(param)` are texts that no documented parameter of its kind, bounds, length and choices takes. `hostile(param)`
are texts that a free text may take or not. `accepted_example(param)` is one that it takes.
"""

from collections.abc import Iterator

from wire.params import Kind, Param

INJECTIONS = (
    "' OR '1'='1",
    '"; DROP TABLE orders; --',
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "{{7*7}}",
    "${jndi:ldap://x/a}",
    "$(reboot)",
    "%00%0d%0a",
    "\\u0000",
)
UNICODE = ("\u0661\u0662", "\uff11", "\u202e1", "\U0001f4b0", "e\u0301\u200b", "\u0392TC")
CONTROL = ("a\x00b", "a\nb", "\x7f", "\x1b[2J")
NUMBERLESS = (
    *("x", "NaN", "-NaN", "sNaN", "Infinity", "-Infinity", "inf", "null", "undefined", "[1]", "{}"),
    *("1e5", "1E5", "1e-5", "-1e+5", "1e999999", "0x10", "0b1", "1_000", "1,5", "1.2.3", "--1", "1 2", " 1", "1 ", "-"),
    *("9" * 81, *INJECTIONS, *UNICODE, *CONTROL),
)
CODES = (
    *("NOSUCH", "nosuch", "NaN", "0", "-1", "1e5", "B" * 1_001, "BTC ETH", "BTC;ETH", "*", "%", "_", "ALL"),
    *(*INJECTIONS, *UNICODE, *CONTROL),
)
LONGEST_TEXT = 1_000
POSITIVE = {"amount", "quantity", "price", "stopPrice", "volume"}  # the documents have no use for none of it

EXAMPLES: dict[Kind, str] = {
    Kind.TEXT: "text",
    Kind.CODE: "BTC",
    Kind.CODES: "BTC",
    Kind.INTEGER: "1",
    Kind.INTEGERS: "1",
    Kind.DECIMAL: "1",
    Kind.BOOLEAN: "true",
    Kind.INSTANT: "2026-11-20T10:11:12.345Z",
    Kind.INSTANT_OR_INDEX: "2026-11-20T10:11:12.345Z",
}


def accepted_example(param: Param) -> str:
    """A text that the parameter takes, as far as its row says."""
    if param.choices:
        return param.choices[0]
    if param.kind is Kind.INTEGER and param.lowest is not None:
        return str(param.lowest)
    return EXAMPLES[param.kind]


def refused(param: Param) -> Iterator[str]:
    """Texts that the row of the parameter rules out."""
    match param.kind:
        case Kind.TEXT:
            yield from _texts(param)
        case Kind.CODE:
            yield from (*CODES, "BTC,ETH")
        case Kind.CODES:
            yield from (*CODES, f"{accepted_example(param)},NOSUCH", ",", "NOSUCH,", ",,")
        case Kind.BOOLEAN:
            yield from (*NUMBERLESS, "1", "0", "yes", "on", "truee", "t", "true,false")
        case Kind.INTEGERS:
            yield from (text for text in NUMBERLESS if text not in ("1,5", " 1", "1 "))
            yield from ("1.5", "-1", "1,x", "1,", ",", "1;2", str(2**63), "1," + "9" * 20)
        case Kind.INTEGER:
            yield from (*NUMBERLESS, "1.5", "-1", "+1", "true", *_out_of_bounds(param))
        case Kind.DECIMAL:
            # More than anybody has, and finer than any amount is.
            yield from (*NUMBERLESS, "-1", "-0.1", "9" * 30, "0." + "0" * 30 + "1", "true", "0.1.")
            yield from ("0", "0.000", "-0") if param.name in POSITIVE else ()
        case Kind.INSTANT | Kind.INSTANT_OR_INDEX:
            yield from (*NUMBERLESS, "yesterday", "2026-13-01", "2026-02-30", "2026-11-20T25:00Z", "-1", "1.5")
            yield from ("10000-01-01", "2026-11-20T10:11:12+99:99", "2026-11-20T10:11:12Zx", "9" * 19)


def _texts(param: Param) -> Iterator[str]:
    yield from CONTROL
    yield "x" * ((param.max_length or LONGEST_TEXT) + 1)
    if param.choices:
        first = param.choices[0]
        yield from ("nosuch", first + "x", first[:-1], first.swapcase(), first + " ", ",".join(param.choices[:2]))
        yield from (*INJECTIONS, *UNICODE, "1", "NaN", "true")


def _out_of_bounds(param: Param) -> Iterator[str]:
    yield str((-(2**63) if param.lowest is None else param.lowest) - 1)
    yield str((2**63 - 1 if param.highest is None else param.highest) + 1)


def hostile(param: Param) -> tuple[str, ...]:
    """Texts that a free text may hold, and that must do no harm there; for other kinds none."""
    if param.kind is not Kind.TEXT or param.choices:
        return ()
    return (*INJECTIONS, *UNICODE, "x", "NaN", "null", ".", "..", "...", "~", "a b", "x" * (param.max_length or 200))


def wrong_json(param: Param) -> Iterator[str]:
    """JSON of a wrong type for a parameter in a JSON body."""
    yield from ('{"a":1}', "[[1]]", '[{"a":1}]', '["a",null]', "{}")
    if param.kind is not Kind.BOOLEAN:
        yield from ("true", "false")
    else:
        yield from ("1", "0", "1.5")
    if param.kind not in (Kind.CODES, Kind.INTEGERS):
        yield from ('["1"]', '["a","b"]')
    if param.kind in (Kind.INTEGER, Kind.INTEGERS, Kind.DECIMAL, Kind.INSTANT):
        yield from ("NaN", "Infinity", "-Infinity", "-1", "1e400", '"1e5"')
    if param.kind in (Kind.CODE, Kind.CODES) or param.choices:
        yield from ("1", "1.5", "-1e-9")
