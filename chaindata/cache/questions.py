"""Questions to the chain-data service, and the keys under which their answers are stored.

A key begins with the version of the stored form, so that answers in an older form are not read. It ends with a digest
of the arguments and the service's address, so that each service has its own answers.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import msgspec
from django.conf import settings

from chaindata.cache.freshness import FRESHNESS, Freshness
from chaindata.wire import catalogue
from wire.operation import Kind, Request, bind

VERSION = 1
_DIGEST_CHARACTERS = 32


class CannotAsk(ValueError):
    """Answers to this operation are not stored."""


@dataclass(frozen=True, slots=True)
class Question:
    """One operation with its arguments, as the wire names them, and the key of its answer."""

    operation: str
    arguments: dict[str, object]
    key: str

    @property
    def topic(self) -> str:
        """The topic that a page follows to hear of a new answer."""
        return f"chain-answer:{self.key}"


def question(operation: str, arguments: Mapping[str, object]) -> Question:
    """The question with these arguments. Raises `CannotAsk`, and `BadArgument` for what can't be sent."""
    if FRESHNESS.get(operation) is None:
        raise CannotAsk(f"Responses to {operation} are not cached.")
    params = {name: value for name, value in arguments.items() if value is not None}
    request = bind(catalogue.by_name[operation], params)
    return Question(operation, params, _key(request))


def freshness(operation: str) -> Freshness:
    """How answers to the operation age. Raises `CannotAsk` if they are not stored."""
    row = FRESHNESS.get(operation)
    if row is None:
        raise CannotAsk(f"Responses to {operation} are not cached.")
    return row


def _key(request: Request) -> str:
    parts = (settings.CHAINDATA_URL, request.method, request.target, request.body.decode())
    digest = hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:_DIGEST_CHARACTERS]
    return f"{VERSION}.{request.operation.name}.{digest}"


def stored_arguments(question: Question) -> dict[str, object]:
    """The arguments as a row stores them: decimals as texts."""
    return {name: str(value) if isinstance(value, Decimal) else value for name, value in question.arguments.items()}


def wire_arguments(operation: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments that a row stores, in the types that the operation takes."""
    row = catalogue.by_name[operation]
    kinds = {param.name: param.kind for param in row.params}
    return {
        name: Decimal(str(value)) if kinds.get(name) is Kind.DECIMAL else value for name, value in arguments.items()
    }
