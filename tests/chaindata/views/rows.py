"""Rows for the tests of pages: answers as workers leave them, and headers, without a service."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from chaindata.cache import questions
from chaindata.cache.models import ChainAnswer
from chaindata.headers.models import ChainHeader, ChainTip
from chaindata.wire.addresses import Address, Kind, Network
from chaindata.wire.scripts import steps

NOW = datetime(2026, 11, 21, 9, 0, 0, tzinfo=UTC)
OURS = Address(Network.TEST, Kind.KEY, bytes(range(20)))
THEIRS = Address(Network.TEST, Kind.KEY, bytes(range(1, 21)))
NOTE = "6a0b68656c6c6f207468657265"  # OP_RETURN "hello there"


def h(number: int, mark: str = "a") -> str:
    """A hash that nothing else has."""
    return mark * 8 + f"{number:056x}"


def answered(operation: str, body: object, *, at: datetime, final: bool = False, **arguments: object) -> ChainAnswer:
    """The service answered: fresh for a minute, or final."""
    question = questions.question(operation, arguments)
    text = json.dumps(body)
    columns: dict[str, Any] = {
        "operation": operation,
        "arguments": questions.stored_arguments(question),
        "standing": "found",
        "body": text,
        "size": len(text),
        "read_at": at,
        "is_final": final,
        "asked_at": at,
        "due_at": None if final else at + timedelta(minutes=1),
    }
    return ChainAnswer.objects.update_or_create(key=question.key, defaults=columns)[0]


def turned_down(operation: str, state: str, *, at: datetime, problem: str = "", **arguments: object) -> None:
    """The service answered that there is no such thing ("missing"), or could not be read ("absent" with a problem)."""
    question = questions.question(operation, arguments)
    columns: dict[str, Any] = {
        "operation": operation,
        "arguments": questions.stored_arguments(question),
        "standing": state,
    }
    columns |= {"body": "", "read_at": at if state != "absent" else None, "problem": problem, "asked_at": at}
    columns |= {"due_at": at + timedelta(seconds=10)}
    ChainAnswer.objects.update_or_create(key=question.key, defaults=columns)


def failed(row: ChainAnswer, *, problem: str, now: datetime) -> None:
    """The last try to read the answer again did not succeed."""
    ChainAnswer.objects.filter(pk=row.pk).update(problem=problem, problem_at=now, failures=1, due_at=now)


def header(height: int, *, at: datetime, mark: str = "a", root: bytes = bytes(32)) -> ChainHeader:
    """A header of the chain, over the transactions with this root."""
    raw = bytes(36) + root + bytes(12)
    columns = {"height": height, "previous_hash": h(height - 1, mark), "raw": raw.hex(), "chainwork": f"{height:064x}"}
    columns |= {"time": int(at.timestamp()), "is_active": True, "seen_at": at}
    return ChainHeader.objects.update_or_create(hash=h(height, mark), defaults=columns)[0]


def tip(height: int, *, at: datetime, blocks: int = 3) -> None:
    """The desk follows a chain that ends at this height; so many of its last headers are known."""
    for each in range(max(0, height - blocks + 1), height + 1):
        newest = header(each, at=at)
    columns = {"world": "test", "header": newest, "read_at": at}
    ChainTip.objects.update_or_create(pk=1, defaults=columns)


def chain_state(height: int) -> dict[str, Any]:
    """`get_blockchain_info`."""
    return {
        "chain": "regtest",
        "blocks": height,
        "headers": height,
        "bestblockhash": h(height),
        "difficulty": 4.6565423739069247e-10,
        "mediantime": 1_763_700_000,
        "verificationprogress": 1,
        "chainwork": f"{2 * height:064x}",
        "pruned": False,
        "softforks": [],
    }


def block(height: int, *, txids: list[str], tip_height: int, mark: str = "a", **changes: Any) -> dict[str, Any]:
    """`get_block_by_hash`."""
    members = {
        "hash": h(height, mark),
        "size": 321 + height,
        "height": height,
        "version": 536_870_912,
        "merkleroot": h(height, "b"),
        "tx": txids,
        "time": int(NOW.timestamp()) - 60 * (tip_height - height),
        "nonce": 7,
        "bits": "207fffff",
        "difficulty": 4.6565423739069247e-10,
        "chainwork": f"{2 * height:064x}",
        "confirmations": tip_height - height + 1,
        "previousblockhash": h(height - 1, mark),
        "reward": 25,
        "isMainChain": True,
        "poolInfo": {},
    }
    if height < tip_height:
        members["nextblockhash"] = h(height + 1, mark)
    return members | changes


def output(n: int, value: str, script: str, **spent: Any) -> dict[str, Any]:
    """An output of details."""
    nothing = {"spentTxId": None, "spentIndex": None, "spentHeight": None}
    return {"value": value, "n": n, "scriptPubKey": {"hex": script, "asm": ""}} | nothing | spent


def paying(address: Address) -> str:
    """The script that locks to an address."""
    return steps.locking(address).hex()


def details(txid: str, *, height: int | None = 3, **changes: Any) -> dict[str, Any]:
    """`get_transaction_details`: 1.5 coins of somebody else, 1 to us, the rest back, a note; a fee of 226 satoshis."""
    spent = {"txid": h(1, "c"), "vout": 1, "sequence": 0xFFFFFFFF, "n": 0}
    spent |= {"scriptSig": {"hex": "00", "asm": "0"}, "value": 150_000_000}
    spent |= {"legacyAddress": THEIRS.legacy_address, "cashAddress": THEIRS.cash_address}
    confirmed: dict[str, Any] = {"blockheight": -1, "confirmations": 0, "time": int(NOW.timestamp())}
    if height is not None:
        confirmed = {"blockhash": h(height), "blockheight": height, "confirmations": 2}
        confirmed |= {"time": int(NOW.timestamp()), "blocktime": int(NOW.timestamp())}
    members = {
        "txid": txid,
        "version": 2,
        "locktime": 0,
        "vin": [spent],
        "vout": [
            output(0, "1.00000000", paying(OURS), spentTxId=h(9, "d"), spentIndex=0, spentHeight=-1),
            output(1, "0.49999774", paying(THEIRS)),
            output(2, "0.00000000", NOTE),
        ],
        "size": 226,
        "valueOut": 1.49999774,
        "valueIn": 1.5,
        "fees": 0.00000226,
    }
    return members | confirmed | changes
