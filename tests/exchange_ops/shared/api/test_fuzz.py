"""The interface asked with whatever its description allows and forbids, as everybody who may come to it.

No answer is an error of ours, and each has a status, a type, headers and a shape that the description names. A few
examples for each operation in the usual run, always the same ones; `--hypothesis-profile=thorough` tries many others.
`make test` asks every operation as an operator, who comes furthest, and a twenty-fourth of them as a stranger.
"""

from dataclasses import dataclass
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from desk import clock
from desk.models import ApiToken
from desk.people import tokens
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals.models import Withdrawal
from tests.cases import in_turn
from tests.exchange_ops import rows
from tests.exchange_ops.shared.api.test_agreement import BODIES

_USUAL = hypothesis.settings.default.max_examples <= 100
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("payable"),
    pytest.mark.timeout(120 if _USUAL else 4 * 3600),
]

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES = 2 if _USUAL else hypothesis.settings.default.max_examples // 30
CHAIN = {"named": "1", "txid": "ab" * 32, "text": rows.ADDRESS}


@dataclass(frozen=True)
class Visitor:
    """Who asks: a role or nobody, what the token may, and whether at one of two accounts only."""

    role: str
    scope: str = ApiToken.Scope.DRAFT
    is_limited: bool = False
    is_among_several: bool = False


VISITORS = {
    "nobody": Visitor(""),
    "operator": Visitor("operator"),
    "treasury": Visitor("treasury"),
    "admin": Visitor("admin"),
    "auditor": Visitor("auditor"),
    "a token that reads": Visitor("operator", scope=ApiToken.Scope.READ),
    "an operator of one account": Visitor("operator", is_limited=True, is_among_several=True),
    "an operator of two accounts": Visitor("operator", is_among_several=True),
}


@pytest.fixture
def schema(described):
    """The description, behind which the desk itself answers, on the connection of the test."""
    found = schemathesis.openapi.from_dict(described[0])
    found.app = get_wsgi_application()
    hooks = [request_started, request_finished]
    for hook in hooks:
        hook.disconnect(close_old_connections)
    yield found
    for hook in hooks:
        hook.connect(close_old_connections)


def headers_of(visitor, make_person):
    if not visitor.role:
        return {}
    limits = f" {visitor.role}:{Account.objects.earliest('pk').pk} " if visitor.is_limited else ""
    person = make_person(visitor.role, username="visitor", limits=limits)
    _, secret = tokens.create(person=person, name="fuzz", scope=visitor.scope, now=clock.now())
    return {"Authorization": f"Bearer {secret.reveal()}"}


def ask(operations, known, headers, seen, modes):
    """Each operation, with values that keep its description, and with values that break it."""
    for operation in operations:
        for mode in modes:
            _ask_one(operation.as_strategy(generation_mode=mode), known, headers, seen)


def _ask_one(cases: Any, known: dict[str, Any], headers: dict[str, str], seen: dict[str, set[int]]) -> None:
    @hypothesis.settings(
        max_examples=EXAMPLES,
        derandomize=_USUAL,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(st.data())
    def ask_once(data: st.DataObject) -> None:
        case = data.draw(cases)
        if case.path_parameters and data.draw(st.integers(0, 2)):  # a row that there is
            case.path_parameters.update({name: known[name] for name in case.path_parameters if name in known})
        good = BODIES.get(case.path.removeprefix("/accounts/1"))
        if good and isinstance(case.body, dict) and data.draw(st.booleans()):  # a draft that may be taken
            case.body.update({name: value for name, value in good.items() if data.draw(st.booleans())})
        response = case.call(headers=headers)
        seen.setdefault(f"{case.method} {case.path}", set()).add(response.status_code)
        case.validate_response(response, checks=CHECKS)

    ask_once()


ALSO = pytest.mark.thorough("who may ask what is in pages/test_routes.py; what it answers is the operator's code")


@pytest.mark.every(2, "requests made at random from the whole description")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in {"nobody", "operator"} else ALSO) for name in VISITORS],
)
def test_whatever_is_asked_is_answered_as_described(name, described, schema, one_of_everything, make_person):
    visitor, seen = VISITORS[name], {}
    if visitor.is_among_several:
        Account.objects.create(name="Second desk", quote_currency="USD")
    headers = headers_of(visitor, make_person)
    before = Withdrawal.objects.count()
    # What breaks the description is looked at after the door, so those who get no further ask for what keeps it.
    comes_far = visitor.role == "operator" and visitor.scope == ApiToken.Scope.DRAFT
    modes = [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if comes_far or not _USUAL else [])]
    operations = [each.ok() for each in schema.get_all_operations()]
    assert len(operations) == sum(len(methods) for methods in described[0]["paths"].values())
    operations = in_turn(operations, always=lambda operation: bool(visitor.role))
    ask(operations, one_of_everything | CHAIN, headers, seen, modes)
    assert len(seen) == len(operations)
    if comes_far and not visitor.is_among_several:
        assert len([name for name, statuses in seen.items() if statuses & {200, 201, 202}]) > 15, seen
    if name == "treasury":
        assert seen["POST /api/v1/chain/watched/"] <= {201, 400, 409, 422}, "treasury gets past the door"
    if not visitor.role:
        assert set().union(*seen.values()) <= {401, 404, 405}, seen
    if visitor.role != "operator" or visitor.scope == ApiToken.Scope.READ:
        assert Withdrawal.objects.count() == before
