"""Payouts that the exchange really makes on the sandbox's chain: proven, and found out when it lies."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from desk import audit_check
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.policy import freezes
from exchange_ops.withdrawals import workflow
from exchange_ops.withdrawals.decisions import resolutions
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops.withdrawals.proofs.proving import Proving, supplier
from tests.exchange_ops.withdrawals.walks import Walk


class Paying(Proving):
    """The desk with people and keys, which pays by way of the exchange."""

    def __init__(self, walk: Walk) -> None:
        super().__init__(walk.account, walk.sandbox, walk.operator)
        self.walk = walk

    def sent(self, **changes: Any) -> Withdrawal:
        """A payout that the exchange has broadcast, by its word."""
        request = {"currency": "BCH", "amount": Decimal("1.25"), "address": supplier()} | changes
        return self.walk.until(self.walk.committing(**request), "sent")

    def settled(self, **changes: Any) -> Withdrawal:
        """A payout that the exchange reports as paid, two blocks deep."""
        row = self.sent(**changes)
        self.mine(2)
        return self.walk.until(row, "settled")


@pytest.fixture
def desk(walk: Walk, settings: Any) -> Paying:
    settings.PAYOUT_PROOF_DEPTH = 2
    made = Paying(walk)
    made.begin()
    return made


def test_a_payout_is_proven_step_by_step_and_final_when_buried(desk: Paying) -> None:
    row = desk.look(desk.sent())
    proof = desk.proof(row)
    assert (row.state, proof.standing, proof.depth, proof.wanted_sat) == ("sent", "waiting", 0, 125_000_000)
    assert proof.sentence == "The transaction is unconfirmed."
    desk.mine()
    row = desk.look(row)
    assert (row.state, desk.proof(row).standing, desk.proof(row).depth) == ("sent", "proven", 1)
    desk.mine()
    row = desk.look(desk.walk.until(row, "settled"))
    assert (row.state, desk.proof(row).depth, row.last_problem) == ("verified", 2, "")
    proof = desk.proof(row)
    assert [check["name"] for check in proof.checks] == ["found", "bytes", "output", "proof", "work", "chain"]
    assert all(check["holds"] for check in proof.checks)
    assert (proof.txid, proof.final_at) == (row.hash, None)
    event = row.events.get(event="proven")
    assert (event.actor, event.evidence["depth"], event.evidence["block"]) == (None, 2, proof.block_hash)
    desk.mine(8)
    row = desk.look(row)
    assert (row.state, desk.proof(row).depth) == ("verified", 10)
    assert desk.proof(row).final_at is not None
    desk.mine()
    assert desk.sweep() == 0, "nothing is asked any more once it is buried"
    assert not [found for found in audit_check.verify(replay=True) if "heads" not in found]


def test_a_dispute_that_the_exchange_began_is_never_ended_by_the_chain(desk: Paying) -> None:
    row = desk.look(desk.settled())
    entry = desk.walk.entry(row)
    LedgerEntry.objects.filter(pk=entry.pk).update(status="failed", index=entry.index + 5)
    row = desk.walk.step(row)
    assert (row.state, desk.events(row)[1:]) == ("disputed", ["proven", "exchange_failed"])
    desk.mine()
    row = desk.look(row)
    assert (row.state, desk.events(row)[1:]) == ("disputed", ["proven", "exchange_failed"])


def test_what_the_exchange_took_back_meanwhile_is_not_proven_again(desk: Paying) -> None:
    row = desk.look(desk.settled())
    desk.reorganise(2)
    row = desk.look(row)
    LedgerEntry.objects.filter(withdrawal=row).update(status="failed")
    desk.mine(2)
    assert desk.look(row).state == "disputed"


def test_another_address_is_disputed_and_freezes_the_account(desk: Paying) -> None:
    desk.control("config", {"payout_on_chain": "elsewhere"})
    row = desk.look(desk.settled())
    assert (row.state, desk.proof(row).standing, desk.events(row)[1:]) == ("disputed", "wrong", ["proof_lost"])
    sentence = "Exchange reports paid, but the chain differs: None of the transaction's outputs pays this address."
    assert row.last_problem == sentence
    assert freezes.active(row.account) is not None
    desk.mine(12)
    assert (desk.look(row).state, desk.sweep()) == ("disputed", 0), "what a transaction pays never changes"


def test_another_amount_is_disputed_while_it_waits_for_a_block(desk: Paying) -> None:
    desk.control("config", {"payout_on_chain": "short"})
    row = desk.look(desk.sent())
    sentence = "chain differs: The transaction pays the address 1.12500000, not 1.25000000."
    assert (row.state, row.last_problem) == ("disputed", f"Exchange reports sent, but the {sentence}")
    assert freezes.active(row.account) is not None


def test_a_transaction_that_nobody_knows_is_disputed_after_a_while(desk: Paying) -> None:
    desk.control("config", {"payout_on_chain": "never"})
    row = desk.look(desk.settled())
    assert (row.state, desk.proof(row).standing) == ("settled", "absent")
    for minutes in range(1, 10):
        desk.ahead = timedelta(minutes=minutes)
        desk.follow()
        assert desk.look(row).state == "settled"
    desk.ahead = timedelta(minutes=10, seconds=30)
    desk.follow()
    row = desk.look(row)
    assert (row.state, desk.events(row)[1:]) == ("disputed", ["proof_lost"])
    assert "no such transaction has appeared on-chain for 10 minutes" in row.last_problem
    assert freezes.active(row.account) is not None


def test_a_transaction_that_the_exchange_names_after_its_success_is_looked_for(desk: Paying) -> None:
    row = desk.settled()
    named = row.hash
    Withdrawal.objects.filter(pk=row.pk).update(hash="")  # as if the success had come without it
    assert workflow.due(account=row.account, now=desk.now).filter(pk=row.pk).exists()
    row = desk.walk.step(desk.fresh(row))
    assert (row.state, row.hash) == ("settled", named)
    assert not workflow.due(account=row.account, now=desk.now).filter(pk=row.pk).exists()
    assert desk.look(row).state == "verified"


def test_the_fee_taken_out_of_the_amount_is_not_looked_for_on_the_chain(desk: Paying) -> None:
    row = desk.look(desk.settled(include_fee=True, amount=Decimal(2)))
    assert (row.state, desk.proof(row).wanted_sat) == ("verified", 199_950_000)


def test_the_machine_leaves_a_dispute_to_people_once_somebody_gave_a_verdict(desk: Paying) -> None:
    row = desk.look(desk.settled())
    desk.reorganise(2)
    row = desk.look(row)
    person = desk.walk.approvers[1]
    resolutions.resolve(
        withdrawal_id=row.pk, person=person, verdict="paid", evidence="Their receipt", session_key="s", now=desk.now,
        digest=resolutions.digest_of(row), answer=desk.walk.answer(person),
    )  # fmt: skip
    desk.mine(2)
    row = desk.look(row)
    assert (row.state, desk.events(row)[-1]) == ("disputed", "resolution_recorded")
