"""Blocks, headers, the mempool, outputs, proofs, the node. Source: chain data, Blockchain, Block, Control."""

from collections.abc import Sequence
from decimal import Decimal

from chaindata.client.core import Calls
from chaindata.wire.records import chain


class BlockchainCalls(Calls):
    """What the node knows of its chain. Unknown blocks, heights and transactions raise `Absent`."""

    def get_best_block_hash(self) -> str:
        """The hash of the tip."""
        found: str = self.call("get_best_block_hash")
        return found

    def get_blockchain_info(self) -> chain.ChainState:
        """Which chain, its tip, its work."""
        found: chain.ChainState = self.call("get_blockchain_info")
        return found

    def get_block_count(self) -> int:
        """The height of the tip."""
        found: int = self.call("get_block_count")
        return found

    def get_chain_tips(self) -> list[chain.Tip]:
        """The ends of all branches that the node knows."""
        found: list[chain.Tip] = self.call("get_chain_tips")
        return found

    def get_difficulty(self) -> Decimal:
        """How many times harder a block is than the easiest of the main chain."""
        found: Decimal = self.call("get_difficulty")
        return found

    # Headers and blocks ----------------------------------------------------------------------------------------------

    def get_block_header(self, *, block_hash: str, verbose: bool = False) -> str | chain.BlockHeader:
        """A header: its 80 bytes in hexadecimal, or with `verbose` in words."""
        found: str | chain.BlockHeader = self.call("get_block_header", hash=block_hash, verbose=verbose)
        return found

    def get_block_headers(self, *, hashes: Sequence[str], verbose: bool = False) -> dict[str, str | chain.BlockHeader]:
        """The headers of many blocks by their hashes."""
        return self._many("get_block_headers", hashes, verbose=verbose)

    def get_block_by_hash(self, *, block_hash: str) -> chain.Block:
        """A block of any branch."""
        found: chain.Block = self.call("get_block_by_hash", hash=block_hash)
        return found

    def get_blocks_by_hash(self, *, hashes: Sequence[str]) -> dict[str, chain.Block]:
        """Many blocks by their hashes."""
        return self._many("get_blocks_by_hash", hashes)

    def get_block_by_height(self, *, height: int) -> chain.Block:
        """A block of the best chain."""
        found: chain.Block = self.call("get_block_by_height", height=height)
        return found

    def get_blocks_by_height(self, *, heights: Sequence[int]) -> dict[int, chain.Block]:
        """Many blocks of the best chain by their heights; services refuse 0 in such a list (supplement 1.8)."""
        return self._many("get_blocks_by_height", heights)

    # The mempool -----------------------------------------------------------------------------------------------------

    def get_mempool_entry(self, *, txid: str) -> chain.MempoolEntry:
        """A transaction that waits."""
        found: chain.MempoolEntry = self.call("get_mempool_entry", txid=txid)
        return found

    def get_mempool_entries(self, *, txids: Sequence[str]) -> dict[str, chain.MempoolEntry]:
        """Many transactions that wait, by their ids; one that does not spoils its piece, which raises `Absent`."""
        return self._many("get_mempool_entries", txids)

    def get_mempool_info(self) -> chain.Mempool:
        """The mempool as a whole."""
        found: chain.Mempool = self.call("get_mempool_info")
        return found

    def get_raw_mempool(self, *, verbose: bool = False) -> list[str] | dict[str, chain.MempoolEntry]:
        """The ids of all that waits, or with `verbose` its entries by their ids."""
        found: list[str] | dict[str, chain.MempoolEntry] = self.call("get_raw_mempool", verbose=verbose)
        return found

    # Outputs and proofs ----------------------------------------------------------------------------------------------

    def get_tx_out(self, *, txid: str, n: int, mempool: bool = True) -> chain.UnspentOutput | None:
        """An output while it is unspent, with `mempool` by what waits too; None for a spent or unknown one."""
        found: chain.UnspentOutput | None = self.call("get_tx_out", txid=txid, n=n, mempool=mempool)
        return found

    def get_tx_out_proof(self, *, txid: str) -> str:
        """The proof that a transaction stands in a block, in hexadecimal; `Absent` while it waits."""
        found: str = self.call("get_tx_out_proof", txid=txid)
        return found

    def get_tx_out_proofs(self, *, txids: Sequence[str]) -> dict[str, str]:
        """Many proofs, each by the id that it proves: which one that is, is read from the proof itself."""
        return self._many("get_tx_out_proofs", txids)

    def verify_tx_out_proof(self, *, proof: str) -> list[str]:
        """The ids that the service finds proven, none when the proof does not hold.

        A proof is better checked here (`wire/proofs.py`): the service knows no more, save that its block is in the best
        chain, without which it raises `Absent`.
        """
        found: list[str] = self.call("verify_tx_out_proof", proof=proof)
        return found

    def verify_tx_out_proofs(self, *, proofs: Sequence[str]) -> dict[str, list[str]]:
        """The ids that the service finds proven, by proof; real services tell only the first one of each."""
        found: dict[str, list[str]] = {}
        for proof, txids in self._in_places("verify_tx_out_proofs", "proofs", proofs):
            found |= txids if isinstance(txids, dict) else {proof: [] if txids is None else [txids]}
        return found

    # The node --------------------------------------------------------------------------------------------------------

    def get_node_info(self) -> chain.Node:
        """The node about itself."""
        found: chain.Node = self.call("get_node_info")
        return found

    def get_network_info(self) -> chain.NodeNetwork:
        """The node's place in the network."""
        found: chain.NodeNetwork = self.call("get_network_info")
        return found
