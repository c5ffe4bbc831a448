"""The exchange's ledger and what the wallets hold, for programs."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from exchange_ops.ledger.api_shapes import BalanceList, BalanceOut, LedgerEntryOut, LedgerPage
from exchange_ops.ledger.forms import LedgerFilter
from exchange_ops.ledger.models import Balance, LedgerEntry
from exchange_ops.shared.api.resources import BEFORE, MALFORMED, REFUSALS, MaySee, filters, narrowed, page_of


class Ledger(APIView):
    """The exchange's ledger as the desk has read it."""

    permission_classes = (MaySee,)

    @extend_schema(
        operation_id="ledger_list",
        parameters=[
            BEFORE,
            *filters(LedgerFilter),
        ],
        responses={200: LedgerPage, **MALFORMED},
    )
    def get(self, request: Request) -> Response:
        """Fifty a page, the most recently changed first."""
        return page_of(request, narrowed(request, LedgerFilter, LedgerEntry.objects.all()), LedgerEntryOut, key="index")


class Balances(APIView):
    """What the account holds."""

    permission_classes = (MaySee,)

    @extend_schema(operation_id="balances_list", responses={200: BalanceList, **REFUSALS})
    def get(self, request: Request) -> Response:
        """Both wallets, with the time each was read."""
        rows = Balance.objects.order_by("currency", "wallet")
        return Response({"items": BalanceOut(rows, many=True).data})
