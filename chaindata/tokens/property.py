"""One property: its issuer, grants, crowdsale and holders, and the digest of its balances, computed here as well."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.headers import tips
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of, moment
from chaindata.tokens import supply, tokens
from chaindata.tokens.tokens import WHC, HoldersPart, Slice
from chaindata.wire.records import tokens as property_records

MOST_DATED = 60  # grants and revocations whose blocks are read
BURNED, FIXED, MANAGED, SOLD = "burned", "fixed", "managed", "sold"


@dataclass(frozen=True, slots=True)
class PropertyToken:
    """A property: who issues it, and how."""

    property_id: int
    record: property_records.Property | None
    issuer: str
    is_unknown: bool
    freshness: PartFreshness

    @property
    def issuance(self) -> str:
        """How its tokens are issued."""
        return issuance_of(self.record)


def issuance_of(record: property_records.Property | None) -> str:
    """How tokens of a property are issued: burned, fixed, managed or sold; "" until that is known."""
    if record is None:
        return ""
    if record.propertyid == WHC:
        return BURNED
    if record.fixedissuance:
        return FIXED
    return MANAGED if record.managedissuance else SOLD


@dataclass(frozen=True, slots=True)
class GrantLine:
    """One grant, or one revocation if `is_revoked`. `supply` is the total after it, once blocks are known."""

    txid: str
    amount: Decimal
    is_revoked: bool
    block: int | None = None
    supply: Decimal | None = None


@dataclass(frozen=True, slots=True)
class GrantsPart:
    """Everything granted and revoked of a managed property; `adds_up` says whether that makes the total.

    Once the blocks of all lines are known they are ordered by block, the newest first, and `drawing` is the supply over
    time. Until then, and if there are more than `MOST_DATED`, they are in the service's order.
    """

    applies: bool

    lines: Slice
    granted: Decimal
    revoked: Decimal
    adds_up: bool | None
    drawing: supply.Drawing | None
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class CrowdsalePart:
    """A sale with its buyers and the share that is sold, 0 to 1. Only properties in a crowdsale have one."""

    applies: bool

    sale: property_records.Crowdsale | None
    buyers: Slice
    sold: Decimal
    share: Decimal
    starts: datetime | None
    ends: datetime | None
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class HashPart:
    """The service's digest of all balances, and the one that is computed here from the balances it lists."""

    answer: property_records.BalancesHash | None
    computed: str
    agrees: bool | None
    freshness: PartFreshness


def token(*, property_id: int, now: datetime) -> PropertyToken:
    """One property."""
    reading = answers.read("get_property", now=now, propertyId=property_id)
    record: property_records.Property | None = reading.record
    unknown = reading.freshness in ("missing", "refused") and record is None
    issuer = tokens.printed(record.issuer) if record else ""
    return PropertyToken(property_id, record, issuer, unknown, freshness_of(reading, topics=[TIP_TOPIC]))


def grants(*, property_id: int, page: int, now: datetime) -> GrantsPart:
    """What was granted and revoked of a managed property."""
    property_reading = answers.read("get_property", now=now, propertyId=property_id)
    if issuance_of(property_reading.record) != MANAGED:
        nothing = tokens.cut([], 1)
        return GrantsPart(
            False, nothing, Decimal(0), Decimal(0), None, None, freshness_of(property_reading, topics=[TIP_TOPIC])
        )
    reading = answers.read("get_grants", now=now, propertyId=property_id)
    answer: property_records.Grants | None = reading.record
    lines = [
        GrantLine(each.txid, each.grant if each.grant is not None else each.revoke or Decimal(0), each.grant is None)
        for each in (answer.issuances if answer else [])
    ]
    granted = sum((line.amount for line in lines if not line.is_revoked), Decimal(0))
    revoked = sum((line.amount for line in lines if line.is_revoked), Decimal(0))
    adds_up = granted - revoked == answer.totaltokens if answer else None
    supply_steps, readings = _supply_steps(lines, now)
    return GrantsPart(
        applies=True,
        lines=tokens.cut(_by_block(lines, supply_steps), page),
        granted=granted,
        revoked=revoked,
        adds_up=adds_up,
        drawing=supply.drawing(supply_steps, tip=_tip(now)),
        freshness=freshness_of(reading, *readings, topics=[TIP_TOPIC]),
    )


def _supply_steps(lines: Sequence[GrantLine], now: datetime) -> tuple[list[supply.Step], list[Reading]]:
    """The lines in the order of their blocks, which the layer gives by transaction; none if there are too many."""
    if len(lines) > MOST_DATED:
        return [], []
    readings = answers.read_many([("get_token_transaction", {"txid": line.txid}) for line in lines], now=now)
    records: list[property_records.TokenTransaction | None] = [each.record for each in readings]
    changes = [
        supply.Change(
            txid=line.txid,
            amount=-line.amount if line.is_revoked else line.amount,
            block=record.block if record else None,
            position=(record.positioninblock or 0) if record else 0,
        )
        for line, record in zip(lines, records, strict=True)
    ]
    return supply.steps(changes), readings


def _by_block(lines: list[GrantLine], supply_steps: Sequence[supply.Step]) -> list[GrantLine]:
    """The lines with their blocks, the newest first, if the blocks are known."""
    return [
        GrantLine(
            txid=step.change.txid,
            amount=abs(step.change.amount),
            is_revoked=step.change.amount < 0,
            block=step.change.block,
            supply=step.supply,
        )
        for step in reversed(supply_steps)
    ] or lines


def _tip(now: datetime) -> int | None:
    last_tip = tips.tip(now)
    return last_tip.height if last_tip else None


def crowdsale(*, property_id: int, page: int, now: datetime) -> CrowdsalePart:
    """The sale of a property, with its buyers."""
    property_reading = answers.read("get_property", now=now, propertyId=property_id)
    if issuance_of(property_reading.record) != SOLD:
        freshness = freshness_of(property_reading, topics=[TIP_TOPIC])
        return CrowdsalePart(False, None, tokens.cut([], 1), Decimal(0), Decimal(0), None, None, freshness)
    reading = answers.read("get_crowdsale", now=now, propertyId=property_id, verbose=True)
    sale: property_records.Crowdsale | None = reading.record
    buyers = (sale.participanttransactions or []) if sale else []
    sold = sum((each.participanttokens for each in buyers), Decimal(0))
    share = sold / sale.tokensissued if sale and sale.tokensissued > 0 else Decimal(0)
    return CrowdsalePart(
        applies=True,
        sale=sale,
        buyers=tokens.cut(buyers, page),
        sold=sold,
        share=min(max(share, Decimal(0)), Decimal(1)),
        starts=moment(sale.starttime) if sale else None,
        ends=moment(sale.deadline) if sale else None,
        freshness=freshness_of(reading, topics=[TIP_TOPIC]),
    )


def holders(*, property_id: int, page: int, now: datetime) -> HoldersPart:
    """The holders of the property, whose balances are frozen, and whether they add up to the total."""
    record = answers.read("get_property", now=now, propertyId=property_id).record
    reading = answers.read("get_token_balances_of_property", now=now, propertyId=property_id)
    readings, frozen = [reading], frozenset[str]()
    if record is not None and record.managedissuance:
        frozen_reading = answers.read("get_frozen_balances_of_property", now=now, propertyId=property_id)
        readings.append(frozen_reading)
        frozen = frozenset(tokens.printed(row.address) for row in frozen_reading.record or [])
    balances = [(tokens.printed(row.address), row.balance) for row in reading.record or [] if row.balance]
    total = record.totaltokens if record is not None and (record.fixedissuance or record.managedissuance) else None
    freshness = freshness_of(*readings, topics=[TIP_TOPIC])
    is_known = reading.record is not None
    return tokens.holders(balances, supply=total, page=page, is_known=is_known, freshness=freshness, frozen=frozen)


def balances_hash(*, property_id: int, now: datetime) -> HashPart:
    """The digest of all balances, the service's and our own (supplement 1.12)."""
    reading = answers.read("get_balances_hash", now=now, propertyId=property_id)
    listed = answers.read("get_token_balances_of_property", now=now, propertyId=property_id)
    record = answers.read("get_property", now=now, propertyId=property_id).record
    computed = ""
    if listed.record is not None and record is not None:
        computed = hash_of_balances(property_id, listed.record, precision=tokens.precision_of(record.precision))
    answer: property_records.BalancesHash | None = reading.record
    agrees = answer.balanceshash == computed if answer is not None and computed else None
    return HashPart(answer, computed, agrees, freshness_of(reading, listed, topics=[TIP_TOPIC]))


def hash_of_balances(property_id: int, rows: Sequence[property_records.HolderBalance], *, precision: int) -> str:
    """SHA-256 over the non-zero balances in base units, addresses in the order of their text; printed reversed."""
    balances = sorted((row.address, int(row.balance.scaleb(precision))) for row in rows)
    text = "".join(f"{who}|{property_id}|{units}|0|0|0" for who, units in balances if units)
    return hashlib.sha256(text.encode()).digest()[::-1].hex()
