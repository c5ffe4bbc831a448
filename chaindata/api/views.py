"""The chain for programs: what the pages show, from the same answers. Asking is looking: a worker reads what is asked.

Nothing is waited for: what nobody has read yet is null with the standing "absent", and what there is not is a 404.
"""

from typing import Any

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chaindata.api import shapes
from chaindata.api.permissions import MaySeeChain
from chaindata.explorer import address, block, home, transaction
from chaindata.shared import addresses
from chaindata.shared.pages import PartFreshness
from chaindata.wire.decoding import SAT_PER_COIN
from desk import clock
from desk.web.problem_details import refusing

_REFUSALS = refusing(401, 403, 429)
_ONE = refusing(404) | _REFUSALS


def _path_parameter(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, OpenApiParameter.PATH, description=description)


class Tip(APIView):
    """The end of the chain."""

    permission_classes = (MaySeeChain,)

    @extend_schema(operation_id="chain_tip", responses={200: shapes.ChainTipOut, **_REFUSALS})
    def get(self, request: Request) -> Response:
        """The latest block, as last received by the desk."""
        tip = home.tip(now=clock.now())
        fields = {"height": tip.height, "hash": tip.hash or None, "time": tip.time, "heard_at": tip.heard_at}
        fields |= {"is_current": tip.height is not None and not tip.is_silent, "problem": tip.problem}
        return Response(shapes.ChainTipOut(fields).data)


class OneBlock(APIView):
    """A block."""

    permission_classes = (MaySeeChain,)

    @extend_schema(
        operation_id="chain_block",
        parameters=[_path_parameter("named", "Block hash or height.")],
        responses={200: shapes.ChainBlockOut, **_ONE},
    )
    def get(self, request: Request, named: str) -> Response:
        """One block by hash or height; retry in a few seconds while `block` is null."""
        part = block.block(named, now=clock.now())
        record = part.block
        body = record and {
            **{name: getattr(record, name) for name in ("hash", "height", "size", "bits", "chainwork")},
            "confirmations": part.confirmations,
            "is_on_chain": record.is_main_chain,
            "time": part.time,
            "merkle_root": record.merkleroot,
            "previous_hash": record.previousblockhash,
            "next_hash": record.nextblockhash,
            "reward_sat": _sat(record.reward),
            "txids": record.tx,
        }
        return Response(shapes.ChainBlockOut(_freshness_fields(part.freshness) | {"block": body}).data)


class OneTransaction(APIView):
    """A transaction."""

    permission_classes = (MaySeeChain,)

    @extend_schema(
        operation_id="chain_transaction",
        parameters=[_path_parameter("txid", "Transaction ID, 64 hexadecimal digits.")],
        responses={200: shapes.ChainTransactionOut, **_ONE},
    )
    def get(self, request: Request, txid: str) -> Response:
        """One transaction by ID; retry in a few seconds while `transaction` is null."""
        now = clock.now()
        part, sides = transaction.facts(txid, now=now), transaction.sides(txid, show_all=True, now=now)
        details = part.details
        body = details and {
            "txid": txid,
            "height": part.height,
            "block_hash": details.blockhash,
            "fee_sat": part.fee_sat,
            "confirmations": part.confirmations,
            "time": part.time,
            "size": details.size,
            "inputs": [_input(each) for each in sides.inputs],
            "outputs": [_output(each) for each in sides.outputs],
        }
        return Response(shapes.ChainTransactionOut(_freshness_fields(part.freshness) | {"transaction": body}).data)


class OneAddress(APIView):
    """An address."""

    permission_classes = (MaySeeChain,)

    @extend_schema(
        operation_id="chain_address",
        parameters=[_path_parameter("text", "In any format.")],
        responses={200: shapes.ChainAddressOut, **_ONE},
    )
    def get(self, request: Request, text: str) -> Response:
        """One address, in any format; retry in a few seconds while `balance` is null."""
        try:
            forms = addresses.forms(addresses.printed(text))
        except addresses.NotAnAddress as problem:
            raise Http404(str(problem)) from None
        part = address.balance(forms.cash_address, now=clock.now())
        details = part.details
        body = details and {
            "balance_sat": details.balance_sat,
            "unconfirmed_sat": details.unconfirmed_balance_sat,
            "received_sat": details.total_received_sat,
            "sent_sat": details.total_sent_sat,
            "transactions": details.tx_apperances,
        }
        fields = {name: getattr(forms, name) for name in ("cash_address", "legacy_address", "slp_address")}
        return Response(shapes.ChainAddressOut(_freshness_fields(part.freshness) | fields | {"balance": body}).data)


def _freshness_fields(freshness: PartFreshness) -> dict[str, Any]:
    """How the answer stands; one that says that there is no such thing is a 404."""
    if freshness.word == "missing":
        raise Http404
    return {
        "standing": freshness.word,
        "read_at": freshness.read_at,
        "is_final": freshness.is_final,
        "problem": freshness.problem,
    }


def _input(each: transaction.Spending) -> dict[str, Any]:
    fields = {"n": each.n, "txid": each.txid or None, "vout": each.vout, "address": each.address or None}
    return fields | {"value_sat": None if each.coins is None else _sat(each.coins)}


def _output(each: transaction.Making) -> dict[str, Any]:
    fields = {"n": each.n, "value_sat": _sat(each.coins), "addresses": list(each.addresses)}
    return fields | {"script": each.hex, "spent_by": each.spent_txid or None}


def _sat(coins: Any) -> int:
    return int(coins * SAT_PER_COIN)
