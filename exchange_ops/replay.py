"""How the audit trail tells of what moves in the exchange account; called by `verify_audit --replay`."""

from typing import Final

from desk.machines.replay import Replay
from exchange_ops.addresses.mover import MACHINE as ADDRESS_REQUESTS
from exchange_ops.orders.brackets.mover import MACHINE as BRACKETS
from exchange_ops.orders.decisions import approvals as order_approvals
from exchange_ops.orders.models import OrderApproval
from exchange_ops.orders.mover import MACHINE as ORDERS
from exchange_ops.policy.vote_replay import COUNTED, Votes
from exchange_ops.policy_changes.mover import MACHINE as POLICY_CHANGES
from exchange_ops.positions.mover import MACHINE as MARGIN_ACTIONS
from exchange_ops.subaccounts.mover import MACHINE as SUBACCOUNTS
from exchange_ops.transfers import approvals as transfer_approvals
from exchange_ops.transfers import endings
from exchange_ops.transfers.models import TransferApproval
from exchange_ops.transfers.mover import MACHINE as TRANSFERS
from exchange_ops.withdrawals.decisions import approvals, resolutions
from exchange_ops.withdrawals.models import Approval
from exchange_ops.withdrawals.mover import MACHINE as WITHDRAWALS


def _words_on_withdrawals() -> Votes:
    return Votes(
        "W",
        Approval,
        "withdrawal_id",
        dict.fromkeys((*COUNTED, Approval.REVIEW, Approval.RELEASE), approvals.PURPOSE)
        | dict.fromkeys(("resolved", "resolution_recorded", Approval.RESOLUTION), resolutions.PURPOSE),
    )


def _words_on_transfers() -> Votes:
    return Votes(
        "T",
        TransferApproval,
        "transfer_id",
        dict.fromkeys((*COUNTED, TransferApproval.REVIEW), transfer_approvals.PURPOSE)
        | dict.fromkeys(("resolved", "resolution_recorded", TransferApproval.RESOLUTION), endings.RESOLVE_PURPOSE)
        | {"closed": endings.CLOSE_PURPOSE, "issued_anew": endings.REISSUE_PURPOSE},
    )


def _words_on_orders() -> Votes:
    return Votes(
        "O", OrderApproval, "order_id", dict.fromkeys((*COUNTED, OrderApproval.REVIEW), order_approvals.PURPOSE)
    )


REPLAYS: Final = (
    Replay(WITHDRAWALS, not_moves=frozenset({"orphan_released", "release_ordered"}), votes=_words_on_withdrawals),
    Replay(TRANSFERS, votes=_words_on_transfers),
    # An order that was placed elsewhere is known from the streams, and in the trail once somebody here cancels it.
    Replay(ORDERS, enter_late=True, votes=_words_on_orders),
    Replay(BRACKETS),
    Replay(MARGIN_ACTIONS),
    # The trail gathers actions under the sub-account that they are for, so each event names its action.
    Replay(SUBACCOUNTS, numbered_by="action"),
    Replay(ADDRESS_REQUESTS),
    Replay(POLICY_CHANGES),
)
