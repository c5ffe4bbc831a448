"""The drills that there are, each with its trouble, what people should do about it, and when it is over."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from exchange_ops.addresses.destinations import CHAIN_CODE
from exchange_ops.keys.models import ApiKey
from exchange_ops.ledger.models import Balance
from exchange_ops.market.models import Currency
from exchange_ops.payees.models import Payee
from exchange_ops.policy.models import Freeze
from exchange_ops.rehearsals.drills import approvers, broker, restored
from exchange_ops.rehearsals.drills.scene import Alarm, CannotDrill, Drill, Scene
from exchange_ops.shared import alarms
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals.models import PROVEN, PayoutProof, Withdrawal, WithdrawalEvent
from exchange_ops.withdrawals.states import HOLD_UNKNOWN

_ALWAYS: Final = 1_000_000
_LISTED_LATE_MS: Final = 90_000
_DEEPEST: Final = 100
_AUTHORIZATION_FAILED: Final = 1002
_READING_KEY: Final = "rehearsal-1-read"
_STEP, _PARTS = Decimal("0.0001"), 10_000  # a foreign withdrawal takes so small a part of the balance
# Addresses that nobody on the desk knows, for a withdrawal that somebody else made.
_STRANGERS: Final = {
    "BTC": "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    "ETH": "0x52908400098527886E0F7030069857D2E4169EE7",
    "LTC": "LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9",
}


def _clear(scene: Scene) -> None:
    scene.control.clear_faults()


# The exchange is silent -----------------------------------------------------------------------------------------------


def _fall_silent(scene: Scene) -> None:
    scene.control.fault("*", "drop_before", times=_ALWAYS)
    scene.control.fault("*", "silence", times=_ALWAYS)


# An answer is lost ----------------------------------------------------------------------------------------------------


def _lose_an_answer(scene: Scene) -> None:
    scene.control.call("config", {"list_delay_ms": _LISTED_LATE_MS})
    scene.control.fault("create_withdrawal", "drop_after")


def _list_as_before(scene: Scene) -> None:
    scene.control.clear_faults()
    scene.control.call("config", {"list_delay_ms": 0})


def _unknown(scene: Scene) -> WithdrawalEvent | None:
    since = WithdrawalEvent.objects.filter(event="hold_unknown", at__gte=scene.began).select_related("withdrawal")
    return since.order_by("pk").first()


def _reserved_at(scene: Scene) -> datetime:
    """When the money was reserved whose answer was lost."""
    event = _unknown(scene)
    if event is None:
        return scene.began
    claims = WithdrawalEvent.objects.filter(withdrawal=event.withdrawal_id, event="hold_claimed", pk__lt=event.pk)
    claim = claims.order_by("-version").first()
    return event.at if claim is None else claim.at


def _unknown_alarms(scene: Scene) -> list[Alarm]:
    event = _unknown(scene)
    return [] if event is None else [Alarm(event.at, f"Reservation unknown ({event.withdrawal.reference})")]


def _known_again(scene: Scene) -> datetime | None:
    event = _unknown(scene)
    if event is None:
        return None
    later = WithdrawalEvent.objects.filter(withdrawal=event.withdrawal_id, version__gt=event.version)
    first = later.exclude(to_state=HOLD_UNKNOWN).order_by("version").first()
    return None if first is None else first.at


def _asked_again(scene: Scene) -> list[str]:
    event = _unknown(scene)
    if event is None:
        return []
    row, until = event.withdrawal, _known_again(scene)
    same = Withdrawal.objects.filter(
        account=row.account_id, currency=row.currency, amount=row.amount, address=row.address, created_at__gt=event.at
    )
    again = [each.reference for each in (same if until is None else same.filter(created_at__lt=until)).order_by("pk")]
    if again:
        return [f"Requested again while the outcome was unknown, which could pay twice: {', '.join(again)}."]
    return ["Nobody requested it again while the outcome was unknown."]


# A payout that nobody here requested ----------------------------------------------------------------------------------


def _withdraw_elsewhere(scene: Scene) -> None:
    account = Account.objects.order_by("pk").first()
    for code, address in _STRANGERS.items():
        currency = Currency.objects.filter(pk=code, payout_enabled=True, crypto=True).first()
        held = Balance.objects.filter(account=account, currency=code, wallet=Balance.BANK).first()
        if currency is None or held is None or Payee.objects.filter(address=address).exists():
            continue
        amount = max(currency.payout_minimal_amount or _STEP, (held.available / _PARTS).quantize(_STEP))
        if amount < held.available:
            order = {"currency": code, "amount": f"{amount:f}", "address": address}
            scene.control.call("foreign-withdrawal", order)
            return
    raise CannotDrill(f"The drill needs a balance in {', '.join(_STRANGERS)} that can be paid out. Nothing was done.")


def _frozen(scene: Scene) -> list[str]:
    freeze = Freeze.objects.filter(frozen_at__gte=scene.began).select_related("frozen_by").order_by("pk").first()
    if freeze is None:
        return ["Nobody froze the account, so more could have been withdrawn."]
    after_s = int((freeze.frozen_at - scene.began).total_seconds())
    return [f"{freeze.title}: by {freeze.frozen_by or 'the desk'}, {after_s} s after the withdrawal."]


# The chain is reorganised ---------------------------------------------------------------------------------------------


def _reorganise(scene: Scene) -> None:
    proof = PayoutProof.objects.filter(standing=PROVEN).order_by("-height").first()
    if proof is None or proof.height is None:
        raise CannotDrill(
            f"The drill needs a payout in {CHAIN_CODE} that the desk has verified on the chain. Request and approve "
            "one, wait for its proof, and start the drill again. Nothing was done."
        )
    depth = int(scene.control.call("state")["tip"]["height"]) - proof.height + 1
    if not 1 <= depth <= _DEEPEST:
        raise CannotDrill(
            f"The newest verified payout in {CHAIN_CODE} is {depth} blocks deep, and the drill replaces {_DEEPEST} at "
            "most. Request and approve another one, and start the drill again. Nothing was done."
        )
    scene.control.call("chain/reorg", {"depth": depth})


# A key is revoked -----------------------------------------------------------------------------------------------------


def _revoke(scene: Scene) -> None:
    key = ApiKey.objects.filter(active=True, retired_at=None, login=_READING_KEY).first()
    if key is None:
        raise CannotDrill("The key of the rehearsal that reads was replaced already: begin again with --fresh.")
    scene.control.fault("*", "refuse", times=_ALWAYS, code=_AUTHORIZATION_FAILED, key=key.login)


DRILLS: Final[dict[str, Drill]] = {
    each.name: each
    for each in (
        Drill(
            name="exchange-silent",
            title="The exchange is silent",
            happens="Every call to the exchange fails and its streams say nothing. No money moves. It answers again "
            "when somebody has acted on the incident, or after ten minutes.",
            people="Take on the incident, say in a comment what is known, and don't request anything again: what was "
            "requested goes on by itself once the exchange answers.",
            begin=_fall_silent,
            end=_clear,
            kinds=(alarms.LEDGER_LATE, alarms.STREAM_DOWN, alarms.PRICES_OLD),
            until_somebody_acts=True,
            lasts=timedelta(minutes=10),
        ),
        Drill(
            name="answer-lost",
            title="An answer is lost",
            happens="The exchange reserves the money of the next payout, its answer is lost, and its ledger shows the "
            "reservation only a minute and a half later.",
            people="An operator requests a payout now. While the desk says “Reservation unknown”, nobody requests it "
            "again or pays by another way. The desk finds the reservation; then treasury decides as usual.",
            begin=_lose_an_answer,
            end=_list_as_before,
            alarms=_unknown_alarms,
            resolved=_known_again,
            subjects=("withdrawal",),
            starts=_reserved_at,
            findings=_asked_again,
        ),
        Drill(
            name="foreign-payout",
            title="A payout that nobody here requested",
            happens="Somebody withdraws from the account at the exchange, outside Countersign.",
            people="Treasury freezes the account at once, then asks who did it. When that is known, two people close "
            "the incident with a reason, and two of treasury lift the freeze.",
            begin=_withdraw_elsewhere,
            end=_clear,
            kinds=(alarms.PAYOUT_ELSEWHERE,),
            subjects=("freeze",),
            findings=_frozen,
        ),
        Drill(
            name="chain-reorganised",
            title="The chain is reorganised",
            happens="The block with a verified payout leaves the chain. The sandbox's miner takes the payment into a "
            "later block.",
            people="Treasury opens the disputed payout and waits for the chain before anything is paid again: the desk "
            "verifies it again by itself.",
            begin=_reorganise,
            end=_clear,
            kinds=(alarms.PAYOUT_DISPUTED,),
            subjects=("withdrawal",),
        ),
        Drill(
            name="key-revoked",
            title="A key is revoked",
            happens="The exchange refuses the key that reads.",
            people="An administrator replaces the key under Keys. The new one at the exchange is "
            "rehearsal-1-next-read with the secret rehearsal-1-next-read-secret.",
            begin=_revoke,
            end=_clear,
            kinds=(alarms.KEY_REFUSED,),
            subjects=("apikey",),
        ),
        approvers.DRILL,
        broker.DRILL,
        restored.DRILL,
    )
}
