"""Decimals of the specification's own replies, written in ways that only Python would take for numbers."""

import copy
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from exchange_ops.wire import catalogue
from tests.exchange_ops.wire import golden
from wire import records
from wire.errors import BadReply

FILES = golden.files("exchange")
WAYS = ("+{}", " {}", "{} ", "{}_0", "{}e1", "{}\u0660", "NaN", "Infinity")


def decimals_of(reply: Any, record: Any) -> Iterator[list[str | int]]:
    """The paths in the reply of all texts that its record holds as decimals."""
    if isinstance(reply, list):
        for at, item in enumerate(reply):
            yield from ([at, *path] for path in decimals_of(item, record[at]))
    elif isinstance(reply, dict):
        for name, item in reply.items():
            attribute = re.sub("([A-Z])", lambda letter: "_" + letter[0].lower(), name)
            inner = record[name] if isinstance(record, dict) else getattr(record, attribute)
            yield from ([name, *path] for path in decimals_of(item, inner))
    elif isinstance(record, Decimal):
        yield []


def rewritten(reply: Any, path: list[str | int], way: str) -> bytes:
    """The reply with one text written in another way."""
    changed = copy.deepcopy(reply)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = way.format(inner[path[-1]])
    return json.dumps(changed).encode()


def decimals_in(name: str) -> list[list[str | int]]:
    """The paths of all decimals in the reply of an operation."""
    reply = FILES[name]["reply"]
    return list(decimals_of(reply, records.decode(json.dumps(reply).encode(), catalogue.by_name[name].result)))


@pytest.mark.parametrize("name", FILES)
def test_each_decimal_of_a_reply_is_held_to_plain_digits(name: str) -> None:
    for path in decimals_in(name):
        for way in WAYS:
            with pytest.raises(BadReply):
                records.decode(rewritten(FILES[name]["reply"], path, way), catalogue.by_name[name].result)


def test_the_replies_show_many_decimals() -> None:
    assert sum(len(decimals_in(name)) for name in FILES) > 150
