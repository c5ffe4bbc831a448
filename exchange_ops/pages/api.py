"""Funds for programs: both wallets of every currency with their value."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from desk import clock
from desk.api.resources import NOT_FOUND
from exchange_ops.shared.api.fields import AmountText
from exchange_ops.shared.api.resources import MaySee
from exchange_ops.shared.views import accounts
from exchange_ops.withdrawals import funds


class FundsOut(serializers.Serializer[Any]):
    """One currency in the bank and trading accounts; `holds` is the part of `bank_reserved` held for our payouts."""

    currency = serializers.CharField()
    bank = AmountText(help_text="Available in the bank account.")
    bank_reserved = AmountText()
    trading = AmountText(help_text="Available in the trading account.")
    trading_reserved = AmountText()
    holds = AmountText()
    total = AmountText()
    worth = AmountText(allow_null=True, help_text="The total in the quote currency; null without a current price.")
    read_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When the older of the bank and trading balances was synced; null before the first sync.",
    )


class FundsList(serializers.Serializer[Any]):
    """Every currency listed on the exchange or held in the account, by code."""

    quote_currency = serializers.CharField()
    total = AmountText(allow_null=True, help_text="Value of all holdings with a current price.")
    items = FundsOut(many=True)


class Funds(APIView):
    """What is where."""

    permission_classes = (MaySee,)

    @extend_schema(operation_id="funds_list", responses={200: FundsList, **NOT_FOUND})
    def get(self, request: Request) -> Response:
        """Bank and trading account balances, with their value."""
        account = accounts.required(request)
        rows = funds.by_currency(accounts=[account], quote=account.quote_currency, now=clock.now())
        members = {"quote_currency": account.quote_currency, "total": funds.total(rows), "items": rows}
        return Response(FundsList(members).data)
