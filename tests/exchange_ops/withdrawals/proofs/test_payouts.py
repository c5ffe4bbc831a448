"""A payout in the chain's coin is proven by the chain, disputed when the chain says otherwise, and proven again."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from chaindata.headers.models import ChainTip
from chaindata.wire import addresses
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import Output
from desk import audit_check
from exchange_ops.policy import freezes
from exchange_ops.withdrawals import machine
from exchange_ops.withdrawals.models import PayoutProof, Withdrawal
from exchange_ops.withdrawals.proofs import payouts
from sandbox.chain import wallet
from sandbox.chain.scenarios.author import MINER
from sandbox.chain.wallet import Purse
from tests.chaindata.conftest import Service, service  # noqa: F401 (a fixture)
from tests.exchange_ops.withdrawals.proofs.proving import Proving, beside_a_chain, supplier


@pytest.fixture
def desk(account: Any, make_person: Callable[..., Any], settings: Any) -> Iterator[Proving]:
    with beside_a_chain(account, make_person("operator"), settings) as made:
        yield made


# Proven --------------------------------------------------------------------------------------------------------------


def test_it_takes_as_many_blocks_as_the_setting_says(desk: Proving, settings: Any) -> None:
    settings.PAYOUT_PROOF_DEPTH = 5
    row = desk.look(desk.paid())
    assert (row.state, desk.proof(row).standing, desk.proof(row).depth) == ("settled", "proven", 2)
    desk.mine(2)
    assert desk.look(row).state == "settled"
    desk.mine()
    assert desk.look(row).state == "verified"


def test_nothing_is_asked_while_nothing_can_have_changed(desk: Proving) -> None:
    row = desk.proven()
    assert (desk.sweep(), desk.sweep()) == (0, 0)
    desk.ahead += timedelta(seconds=31)
    assert (desk.sweep(), desk.sweep()) == (1, 0)
    desk.mine()
    assert (desk.sweep(), desk.sweep()) == (1, 0)
    assert desk.events(row) == ["exchange_succeeded", "proven"]


def test_other_currencies_are_never_looked_for(desk: Proving) -> None:
    row = desk.row(
        "settled", hash="ab" * 32, currency="BTC", amount=Decimal(1), address="1BoatSLRHtKNngkdXEeobR76b53LETtpyT"
    )
    assert (desk.sweep(), PayoutProof.objects.count()) == (0, 0)
    with pytest.raises(payouts.CannotProve, match="On-chain verification is available for BCH only"):
        payouts.check(row=row, client=None, now=desk.now)  # type: ignore[arg-type]


def test_an_amount_that_the_chain_can_not_have_is_told_and_asked_for_no_more(desk: Proving) -> None:
    row = desk.paid(amount=Decimal("1.250000001"))
    assert desk.look(row).state == "settled"
    assert desk.proof(row).problem == "The amount has more decimals than the chain allows."
    assert desk.sweep() == 0


def test_one_payment_never_proves_two_requests(desk: Proving) -> None:
    first = desk.paid()
    second = desk.row("settled", hash=first.hash.upper(), currency="BCH", amount=first.amount, address=first.address)
    desk.sweep()
    assert (desk.fresh(first).state, desk.fresh(second).state) == ("verified", "disputed")
    assert f"is already matched to {first.reference}" in desk.fresh(second).last_problem
    desk.mine()
    desk.sweep()
    assert (desk.fresh(first).state, desk.fresh(second).state) == ("verified", "disputed")


def test_a_transaction_with_two_equal_payments_proves_two_requests(desk: Proving) -> None:
    script = steps.locking(addresses.read(supplier()))
    world, paid = desk.sandbox.world, Output(125_000_000, script)
    signed = desk.sandbox.inside(lambda: wallet.pay(world.chain, Purse(1, MINER), [paid, paid]))
    desk.sandbox.inside(lambda: world.broadcast(signed.raw))
    desk.mine(2)
    rows = [desk.paid(txid=signed.txid, blocks=0) for _ in range(3)]
    desk.sweep()
    assert [desk.fresh(row).state for row in rows] == ["verified", "verified", "disputed"]


def test_a_fee_that_the_exchange_raises_after_the_approval_makes_no_short_payment_right(desk: Proving) -> None:
    txid = desk.control("chain/pay", {"address": supplier(), "amount": "0.9"})["txid"]
    request = {"currency": "BCH", "amount": Decimal(1), "include_fee": True, "fee_estimate": Decimal("0.0005")}
    row = desk.row("sent", hash=txid, address=supplier(), **request)
    desk.mine(2)
    machine.move(row, event="exchange_succeeded", to="settled", now=desk.now, fee=Decimal("0.1"))
    row = desk.look(row)
    assert (row.state, desk.proof(row).wanted_sat) == ("disputed", 99_950_000)
    assert "pays the address 0.90000000, not 0.99950000" in row.last_problem


def test_a_payment_that_proved_a_request_for_good_proves_no_older_one(desk: Proving) -> None:
    older = desk.row("sent", hash="", currency="BCH", amount=Decimal("1.25"), address=supplier())
    newer = desk.proven()
    desk.mine(8)
    assert desk.look(newer).state == "verified"
    assert desk.proof(newer).final_at is not None
    Withdrawal.objects.filter(pk=older.pk).update(hash=newer.hash)
    older = machine.move(desk.fresh(older), event="exchange_succeeded", to="settled", now=desk.now)
    older = desk.look(older)
    assert (older.state, desk.fresh(newer).state) == ("disputed", "verified")
    assert f"is already matched to {newer.reference}" in older.last_problem


def test_one_payment_never_proves_two_requests_that_spell_its_address_otherwise(desk: Proving) -> None:
    first = desk.paid()
    assert first.address.startswith("bchreg:")
    other = addresses.read(first.address)
    spelled = addresses.cash_encode("bchtest", other.kind, other.hash)
    second = desk.row("settled", hash=first.hash, currency="BCH", amount=first.amount, address=spelled)
    desk.sweep()
    assert (desk.fresh(first).state, desk.fresh(second).state) == ("verified", "disputed")


def test_a_payout_that_is_buried_before_the_exchange_tells_its_success_is_proven_afterwards(desk: Proving) -> None:
    txid = desk.control("chain/pay", {"address": supplier(), "amount": "1.25"})["txid"]
    row = desk.row("sent", hash=txid, currency="BCH", amount=Decimal("1.25"), address=supplier())
    desk.mine(12)
    row = desk.look(row)
    assert (row.state, desk.proof(row).standing, desk.proof(row).depth) == ("sent", "proven", 12)
    machine.move(row, event="exchange_succeeded", to="settled", now=desk.now, exchange_status="success")
    desk.ahead += timedelta(seconds=31)
    row = desk.look(row)
    assert (row.state, desk.proof(row).final_at is None) == ("verified", False)


def test_what_a_silent_service_did_not_know_before_and_after_is_not_absent_all_the_while(
    desk: Proving, settings: Any
) -> None:
    row, url = desk.look(desk.row("settled", hash="ab" * 32, currency="BCH", amount=Decimal(1), address=supplier())), ""
    assert desk.proof(row).standing == "absent"
    url, settings.CHAINDATA_URL = settings.CHAINDATA_URL, "http://127.0.0.1:9"
    desk.ahead += timedelta(minutes=11)
    assert desk.sweep() == 0
    settings.CHAINDATA_URL = url
    desk.ahead += timedelta(minutes=2)
    desk.follow()
    assert desk.look(row).state == "settled", "it was asked twice only, and may just have come back"


@pytest.mark.parametrize("old", [timedelta(minutes=1), timedelta(hours=3)])
def test_a_service_whose_tip_is_not_heard_or_lags_behind_proves_no_absence(desk: Proving, old: timedelta) -> None:
    row = desk.row("settled", hash="ab" * 32, currency="BCH", amount=Decimal(1), address=supplier())
    desk.ahead += old
    for _ in range(13):
        if old > timedelta(hours=1):
            desk.follow()
        row = desk.look(row)
        desk.ahead += timedelta(minutes=1)
    assert (row.state, desk.proof(row).standing) == ("settled", "absent")


def test_a_payout_that_makes_no_sense_keeps_no_other_waiting(desk: Proving) -> None:
    odd = desk.row("settled", hash="no hash at all", currency="BCH", amount=Decimal(1), address=supplier())
    lost = desk.row("settled", hash="ab" * 32, currency="BCH", amount=Decimal(1), address="nowhere")
    row = desk.paid()
    assert desk.look(row).state == "verified"
    assert [desk.fresh(each).state for each in (odd, lost)] == ["settled", "settled"]
    assert desk.proof(odd).problem
    assert desk.proof(lost).problem.startswith("Not verifiable")


# Lost and found ------------------------------------------------------------------------------------------------------


def test_a_reorganisation_turns_a_proven_payout_into_a_disputed_one_and_back(desk: Proving) -> None:
    row = desk.proven()
    desk.reorganise(2)
    row = desk.look(row)
    assert (row.state, row.turn) == ("disputed", "person")
    assert "its block is no longer on-chain" in row.last_problem
    assert (desk.proof(row).standing, desk.proof(row).depth) == ("waiting", 0)
    assert freezes.active(row.account) is None, "a reorganisation is nobody's doing"
    desk.mine()
    row = desk.look(row)
    assert (row.state, desk.proof(row).depth) == ("disputed", 1)
    desk.mine()
    row = desk.look(row)
    assert (row.state, row.last_problem, desk.proof(row).depth) == ("verified", "", 2)
    assert desk.events(row)[1:] == ["proven", "proof_lost", "proven_again"]
    # The row was moved along without people, which the replay names; it names nothing else.
    (named,) = [found for found in audit_check.verify(replay=True) if "heads" not in found]
    assert named.endswith(f"{row.reference} counts an approval without a second factor.")


def test_a_reorganisation_below_a_buried_payout_is_found_too(desk: Proving) -> None:
    row = desk.proven()
    desk.mine(8)
    row = desk.look(row)
    assert desk.proof(row).final_at is not None
    desk.reorganise(3)
    assert (desk.look(row).state, desk.sweep()) == ("verified", 0), "it did not reach down to it"
    desk.reorganise(12)
    row = desk.look(row)
    assert (row.state, desk.proof(row).final_at) == ("disputed", None)
    desk.mine(2)
    assert desk.look(row).state == "verified"


def test_a_payment_that_is_in_another_block_at_once_stays_proven_when_deep_enough(desk: Proving) -> None:
    row = desk.proven()
    block = desk.proof(row).block_hash
    desk.control("chain/reorg", {"depth": 2})
    desk.mine(2)
    row = desk.look(row)
    assert (row.state, desk.events(row)[1:]) == ("verified", ["proven"])
    assert desk.proof(row).block_hash != block


def test_only_a_payment_that_was_told_as_paid_is_disputed_by_a_reorganisation(desk: Proving) -> None:
    txid = desk.control("chain/pay", {"address": supplier(), "amount": "1.25"})["txid"]
    row = desk.row("sent", hash=txid, currency="BCH", amount=Decimal("1.25"), address=supplier())
    row = desk.look(row)
    assert (row.state, desk.proof(row).standing) == ("sent", "waiting")
    desk.mine()
    row = desk.look(row)
    assert (row.state, desk.proof(row).standing, desk.proof(row).depth) == ("sent", "proven", 1)
    desk.reorganise(1)
    row = desk.look(row)
    assert (row.state, desk.proof(row).standing) == ("sent", "waiting")


def test_settled_payments_that_leave_the_chain_are_disputed_before_they_were_proven(
    desk: Proving, settings: Any
) -> None:
    settings.PAYOUT_PROOF_DEPTH = 4
    row = desk.look(desk.paid())
    desk.reorganise(2)
    row = desk.look(row)
    assert (row.state, desk.events(row)[1:]) == ("disputed", ["proof_lost"])
    desk.mine(4)
    row = desk.look(row)
    assert (row.state, desk.events(row)[1:]) == ("verified", ["proof_lost", "proven_again"])


# The service lies, or is away ----------------------------------------------------------------------------------------


@pytest.fixture
def between(service: Service, desk: Proving, settings: Any) -> Callable[..., None]:  # noqa: F811
    """`between(path_part=change)`: the desk asks a service that passes everything on, and changes these answers."""

    def change(**changes: Callable[[Any], Any]) -> None:
        def respond(path: str, body: Any) -> tuple[int, bytes]:
            sent = None if body is None else json.dumps(body).encode()
            forwarded = urllib.request.Request(
                f"{desk.sandbox.url}/v2{path}", sent, {"Content-Type": "application/json"}
            )
            try:
                with urllib.request.urlopen(forwarded) as came:
                    status, content = came.status, came.read()
            except urllib.error.HTTPError as refused:
                status, content = refused.code, refused.read()
            for part, changed in changes.items():
                if part in path and status == 200:
                    content = json.dumps(changed(json.loads(content))).encode()
            return status, content

        service.respond = respond  # type: ignore[method-assign]
        settings.CHAINDATA_URL = service.url
        ChainTip.objects.update(world=f"regtest {service.url}")

    settings.CHAINDATA_URL = desk.sandbox.url  # until something is to be changed
    return change


def flipped(place: int) -> Callable[[str], str]:
    """One bit of a byte of a hexadecimal text is another one."""

    def change(text: str) -> str:
        raw = bytearray.fromhex(text)
        raw[place] ^= 1
        return raw.hex()

    return change


@pytest.mark.parametrize(
    ("part", "change", "sentence"),
    [
        ("getTxOutProof", flipped(70), "proof is invalid|proof is for a different block"),  # its header: half keep work
        ("getTxOutProof", flipped(-1), "proof is invalid"),
        ("getRawTransaction", flipped(-1), "a different transaction"),
        ("details", lambda answer: answer | {"blockhash": "ab" * 32}, "a different block"),
    ],
)
def test_each_broken_answer_proves_nothing_and_moves_nothing(
    desk: Proving, between: Callable[..., None], part: str, change: Callable[[Any], Any], sentence: str
) -> None:
    row = desk.paid()
    between(**{part: change})
    row = desk.look(row)
    proof = desk.proof(row)
    assert (row.state, proof.standing, proof.depth) == ("settled", "not_proven", 0)
    assert re.search(sentence, proof.sentence)
    assert proof.checks[-1]["holds"] is False
    between()
    desk.ahead += timedelta(seconds=31)
    row = desk.look(row)
    assert row.state == "verified", (desk.proof(row).sentence, desk.proof(row).problem)


def test_a_proof_stands_while_its_block_does_whatever_the_service_says_later(
    desk: Proving, between: Callable[..., None]
) -> None:
    row = desk.proven()
    between(getTxOutProof=lambda text: "00", details=lambda answer: answer | {"confirmations": 0})
    desk.mine()
    row = desk.look(row)
    proof = desk.proof(row)
    assert (row.state, proof.standing, proof.depth) == ("verified", "proven", 3)
    assert proof.problem == "The transaction is unconfirmed."


def test_a_service_that_is_away_changes_nothing_and_is_asked_again(desk: Proving, settings: Any) -> None:
    proven, row, url = desk.proven(), desk.paid(), settings.CHAINDATA_URL
    PayoutProof.objects.update(next_look_at=desk.now)
    settings.CHAINDATA_URL = "http://127.0.0.1:9"
    assert desk.sweep() == 0
    desk.ahead += timedelta(seconds=1)
    with_answer, without = desk.proof(proven), PayoutProof.objects.filter(withdrawal=row)
    assert (with_answer.standing, with_answer.depth, without.count()) == ("proven", 2, 0), (
        "the first one ended the round"
    )
    assert with_answer.problem.startswith("The chain service is not available")
    assert [desk.fresh(each).state for each in (proven, row)] == ["verified", "settled"]
    settings.CHAINDATA_URL = url
    desk.ahead += timedelta(seconds=61)
    assert desk.sweep() == 2
    assert [desk.fresh(each).state for each in (proven, row)] == ["verified", "verified"]
    assert desk.proof(proven).problem == ""


def test_a_chain_that_is_followed_anew_takes_no_proof_away(desk: Proving) -> None:
    from chaindata.headers import chain

    row = desk.proven()
    chain.forget(world=ChainTip.objects.get().world)
    desk.ahead += timedelta(seconds=31)
    assert desk.look(row).state == "verified"
    desk.mine()
    row = desk.look(row)
    assert (row.state, desk.proof(row).depth, desk.events(row)[1:]) == ("verified", 3, ["proven"])


def test_one_process_looks_at_a_time(desk: Proving) -> None:
    from exchange_ops.shared import leases

    row = desk.paid()
    assert leases.hold(name=payouts.LEASE, holder="another", now=desk.now)
    assert (desk.sweep(), PayoutProof.objects.count()) == (0, 0)
    leases.release(name=payouts.LEASE, holder="another")
    assert desk.look(row).state == "verified"


def test_each_payment_is_proven_by_its_own_transaction(desk: Proving) -> None:
    first, second = desk.paid(), desk.paid(pays="0.5", amount=Decimal("0.5"))
    wrong = desk.paid(pays="0.4", amount=Decimal("0.6"))
    assert desk.sweep() == 3
    assert [desk.fresh(each).state for each in (first, second, wrong)] == ["verified", "verified", "disputed"]
    assert [desk.proof(each).wanted_sat for each in (first, second)] == [125_000_000, 50_000_000]


# By hand -------------------------------------------------------------------------------------------------------------


def test_the_command_says_whether_the_proof_holds(desk: Proving, capsys: Any) -> None:
    row = desk.paid()
    call_command("verify_payout", row.reference)
    output = capsys.readouterr().out
    assert f"{row.reference}  ok" in output
    assert "pays exactly 1.25000000 to the address." in output
    assert desk.fresh(row).state == "settled", "a check by hand moves nothing"
    desk.reorganise(2)
    with pytest.raises(CommandError, match="not verified"):
        call_command("verify_payout", str(row.pk))
    assert "The transaction is unconfirmed." in capsys.readouterr().out


def test_the_command_refuses_what_it_can_not_prove(desk: Proving, settings: Any) -> None:
    for reference in ("0", "W-999", "x", "", "W-", "\u0661"):
        with pytest.raises(CommandError, match="Payout not found"):
            call_command("verify_payout", reference)
    other = desk.row("held", hash="", currency="BTC", amount=Decimal(1), address=supplier())
    with pytest.raises(CommandError, match="On-chain verification is available for BCH only"):
        call_command("verify_payout", str(other.pk))
    waiting = desk.row("held", hash="", currency="BCH", amount=Decimal(1), address=supplier())
    with pytest.raises(CommandError, match="returned no transaction hash"):
        call_command("verify_payout", str(waiting.pk))
    paid = desk.paid()
    settings.PAYOUT_PROOF_DEPTH = 3
    with pytest.raises(CommandError, match="2 of 3 required confirmations"):
        call_command("verify_payout", str(paid.pk))
    settings.CHAINDATA_URL = "http://127.0.0.1:9"
    with pytest.raises(CommandError, match="the chain service is unavailable"):
        call_command("verify_payout", str(paid.pk))
