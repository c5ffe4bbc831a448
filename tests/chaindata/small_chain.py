"""A chain of a few blocks with real headers, served by the tiny service: what reorganises it is the test."""

from typing import Any

from chaindata.wire import decoding, headers, merkle, proofs, transactions
from chaindata.wire.headers import Header
from chaindata.wire.transactions import Input, Output, Transaction

GENESIS_TIME = 1_296_688_602


def payment(mark: int, outputs: list[tuple[int, bytes]]) -> Transaction:
    """A transaction with these outputs; `mark` tells it from others. Its signature is none."""
    spent = Input(mark.to_bytes(32, "big"), 0, b"\x00" * 60, 0xFFFFFFFF)
    return transactions.build(inputs=[spent], outputs=[Output(value, script) for value, script in outputs])


class Block:
    def __init__(self, header: Header, height: int, body: list[Transaction]) -> None:
        self.header, self.height, self.body = header, height, body
        self.hash = header.hash


def mined(previous: Block | None, body: list[Transaction], *, mark: int = 0) -> Block:
    """The next block, with the little work that the test network asks for."""
    height = previous.height + 1 if previous else 0
    coinbase = payment(2**200 + mark * 1000 + height, [(5_000_000_000, b"\x51")])
    every = [coinbase, *body]
    parts: dict[str, Any] = {
        "version": 0x20000000,
        "previous_bytes": previous.header.hash_bytes if previous else bytes(32),
        "merkle_root_bytes": merkle.root([each.txid_bytes for each in every]),
        "time": GENESIS_TIME + 600 * height + mark,
        "bits": headers.REGTEST_BITS,
    }
    nonce = 0
    while not (header := headers.build(nonce=nonce, **parts)).meets_target:
        nonce += 1
    return Block(header, height, every)


class SmallChain:
    """The service's view: `blocks` are its best chain; blocks that left it stay known by their hash."""

    def __init__(self, blocks: int = 5) -> None:
        self.blocks: list[Block] = []
        self.known: dict[str, Block] = {}
        self.chain = "regtest"
        self.waiting: list[Transaction] = []
        for _ in range(blocks):
            self.mine()

    def mine(self, *body: Transaction, mark: int = 0) -> Block:
        block = mined(self.blocks[-1] if self.blocks else None, list(body), mark=mark)
        self.blocks.append(block)
        self.known[block.hash] = block
        return block

    def reorganise(self, depth: int, *, more: int = 1, mark: int = 1, keep: bool = False) -> None:
        """Replace the last blocks by others, one more of them; with `keep` their transactions come again."""
        gone = self.blocks[-depth:]
        del self.blocks[-depth:]
        for place in range(depth + more):
            body = gone[place].body[1:] if keep and place < len(gone) else []
            self.mine(*body, mark=mark)

    def serve(self, service: Any) -> "SmallChain":
        """Let the tiny service answer from this chain."""
        service.respond = self.respond
        return self

    # The service -----------------------------------------------------------------------------------------------------

    def respond(self, path: str, body: Any) -> tuple[int, bytes]:
        import json

        group, _, rest = path.strip("/").partition("/")
        name, _, argument = rest.partition("/")
        try:
            found = getattr(self, f"{group}_{name}")(body or argument.partition("?")[0])
        except (KeyError, IndexError):
            return 400, b'{"error":"Block not found"}'
        except LookupError:
            return 404, b'{"error":"Not found"}'
        return 200, found if isinstance(found, bytes) else json.dumps(found).encode()

    def blockchain_getBlockchainInfo(self, _: Any) -> dict[str, Any]:
        tip = self.blocks[-1]
        return {
            "chain": self.chain,
            "blocks": tip.height,
            "headers": tip.height,
            "bestblockhash": tip.hash,
            "difficulty": 1,
            "chainwork": headers.chainwork_text(2 * len(self.blocks)),
            "pruned": False,
        }

    def blockchain_getBlockHeader(self, value: Any) -> Any:
        if isinstance(value, dict):
            return [self.known[each].header.raw.hex() for each in value["hashes"]]
        block = self.known[value]
        return {
            **self.detail(block),
            "chainwork": headers.chainwork_text(2 * (block.height + 1)),
        }

    def block_detailsByHeight(self, value: Any) -> Any:
        if isinstance(value, dict):
            return [self.detail(self.blocks[each]) for each in value["heights"]]
        return self.detail(self.blocks[int(value)])

    def block_detailsByHash(self, value: Any) -> Any:
        if isinstance(value, dict):
            return [self.detail(self.known[each]) for each in value["hashes"]]
        return self.detail(self.known[value])

    def blockchain_getTxOutProof(self, wanted_txid: str) -> str:
        block = self.holding(wanted_txid)
        ids = [each.txid_bytes for each in block.body]
        return proofs.build(block.header, ids, {bytes.fromhex(wanted_txid)[::-1]}).raw.hex()

    def transaction_details(self, wanted_txid: str) -> dict[str, Any]:
        waits = next((each for each in self.waiting if each.txid == wanted_txid), None)
        block = self.holding(wanted_txid) if waits is None else None
        paid = waits or next(each for each in block.body if each.txid == wanted_txid)
        value = str(decoding.coins(paid.value_out_sat))
        found = {"txid": wanted_txid, "version": 2, "locktime": 0, "vin": [], "vout": [], "size": paid.size}
        found |= {"valueOut": value, "confirmations": len(self.blocks) - block.height if block else 0}
        return found | ({"blockhash": block.hash, "blockheight": block.height} if block else {"blockheight": -1})

    def rawtransactions_getRawTransaction(self, wanted_txid: str) -> str:
        every = [*self.waiting, *(each for block in self.blocks for each in block.body)]
        return next(each for each in every if each.txid == wanted_txid).raw.hex()

    def holding(self, txid: str) -> Block:
        """The block of the best chain that has the transaction."""
        for block in self.blocks:
            if any(each.txid == txid for each in block.body):
                return block
        raise LookupError(txid)

    def detail(self, block: Block) -> dict[str, Any]:
        on_chain = block.height < len(self.blocks) and self.blocks[block.height] is block
        following = self.blocks[block.height + 1 : block.height + 2] if on_chain else []
        return {
            "hash": block.hash,
            "size": 1000,
            "height": block.height,
            "version": 0x20000000,
            "merkleroot": block.header.merkle_root,
            "tx": [each.txid for each in block.body],
            "time": block.header.time,
            "nonce": block.header.nonce,
            "bits": "207fffff",
            "difficulty": 1,
            "chainwork": headers.chainwork_text(2 * (block.height + 1)),
            "confirmations": len(self.blocks) - block.height if on_chain else 0,
            "reward": 50,
            "isMainChain": on_chain,
            "previousblockhash": block.header.previous_hash,
            **({"nextblockhash": following[0].hash} if following else {}),
        }
