"""A null character, which PostgreSQL stores nowhere and compares with nothing: no address and no form breaks by one."""

import pytest

from tests.exchange_ops.pages.test_routes import ADDRESSES, MATRIX, place

__all__ = ["place"]

pytestmark = pytest.mark.engine("SQLite takes null characters")

# Every name that a page reads from its address.
NAMES = (
    *("account", "address", "again", "before", "after", "call", "candles", "confirmed", "currency", "depth", "do"),
    *("empty", "group", "identifier", "ids", "kind", "list", "method", "of", "page", "parts", "payment_id", "period"),
    *(
        "price",
        "protect",
        "q",
        "quantity",
        "range",
        "reason",
        "role",
        "rows",
        "side",
        "sides",
        "since",
        "sort",
        "state",
    ),
    *("subaccount_id", "symbol", "tab", "text", "to_currency", "totals", "type", "until", "view", "zone"),
)
QUERY = "&".join(f"{name}=A%00" for name in NAMES)
FORMS = {"order-new": "protect=stop&symbol=A%00", "margin-open": "symbol=A%00", "transfer-new": "currency=A%00"}


@pytest.mark.every(3, "every address")
def test_no_address_breaks_by_a_null_character(place, signed_in, make_person):
    client = signed_in(make_person("operator", "treasury", username="both"), raise_request_exception=False)
    names = sorted(ADDRESSES.keys() & MATRIX.keys() - {"readyz"})  # which is 503 until a key works
    statuses = {name: client.get(f"{place(name)}?{QUERY}").status_code for name in names}
    assert {name: status for name, status in statuses.items() if status >= 500} == {}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_that_a_link_fills_in_shows_that_it_is_no_character(place, signed_in, operator, name):
    page = signed_in(operator).get(f"{place(name)}?{FORMS[name]}")
    assert page.status_code == 200
