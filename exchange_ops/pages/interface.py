"""The page about the API: how to start a program, the topics it can follow, and every operation of the schema."""

from typing import Final

from django.conf import settings
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from desk.live import consumers
from desk.views.rendering import show
from desk.web import idempotency
from desk.web.requests import DeskRequest
from exchange_ops.shared import rules
from exchange_ops.shared.views.access import requires

# A valid address of the demo's network to which nobody has the key.
EXAMPLE_ADDRESS: Final = "bchreg:qzd59qv9a8lctxa6eal3dw4rdmnguzxqlqmnj0xnqg"
# Each resource and the topic that announces its changes.
TOPICS: Final = (
    ("/api/v1/withdrawals/", "withdrawals"),
    ("/api/v1/withdrawals/12/", "withdrawal:12"),
    ("/api/v1/transfers/", "transfers"),
    ("/api/v1/transfers/12/", "transfer:12"),
    ("/api/v1/orders/", "orders"),
    ("/api/v1/orders/12/", "order:12"),
    ("/api/v1/brackets/", "orders"),
    ("/api/v1/brackets/12/", "bracket:12"),
    ("/api/v1/trades/", "orders"),
    ("/api/v1/margin/", "margin"),
    ("/api/v1/margin/actions/", "margin"),
    ("/api/v1/margin/actions/12/", "marginaction:12"),
    ("/api/v1/funds/", "balances:1"),
    ("/api/v1/balances/", "balances:1"),
    ("/api/v1/ledger/", "ledger:1"),
    ("/api/v1/deposit-addresses/", "addresses:1"),
    ("/api/v1/subaccounts/", "subaccounts"),
    ("/api/v1/markets/", "market"),
    ("/api/v1/markets/BTCUSD/", "symbol:BTCUSD"),
    ("/api/v1/markets/BTCUSD/book/", "book:BTCUSD"),
    ("/api/v1/markets/BTCUSD/trades/", "trades:BTCUSD"),
    ("/api/v1/markets/BTCUSD/candles/", "candles:BTCUSD.M1"),
    ("/api/v1/chain/tip/", "chain:tip"),
    ("/api/v1/chain/watched/", "watched-addresses"),
    ("/api/v1/chain/watched/12/", "watched-address:12"),
    ("/api/v1/chain/watched/12/movements/", "watched-address:12"),
)


@require_safe
@requires(rules.may_see)
def interface(request: DeskRequest) -> HttpResponse:
    """One page; what it lists comes from /api/v1/schema/."""
    context = {
        "address": EXAMPLE_ADDRESS,
        "topics": TOPICS,
        "kept_days": idempotency.KEPT_FOR.days,
        "rate": settings.API_RATE,
        "most_topics": consumers.MOST_TOPICS,
        "most_sockets": consumers.MOST_SOCKETS_OF_TOKEN,
    }
    return show(request, "exchange_ops/api_docs.html", context)
