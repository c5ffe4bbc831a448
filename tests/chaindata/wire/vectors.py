"""The published vectors of the chain, and what the tests of its forms share."""

import json
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "golden" / "chain_vectors"
PUBLISHED = json.loads((FOLDER / "cashaccount_and_proof_vectors.json").read_text())
SLP_SCRIPTS = json.loads((FOLDER / "slp_scripts.json").read_text())["scripts"]

CASH_ACCOUNTS = PUBLISHED["cash_account"]
PROOFS = [
    *PUBLISHED["txoutproof"],
    {
        "proof": CASH_ACCOUNTS[1]["inclusionProof"],
        "blockhash": CASH_ACCOUNTS[1]["blockhash"],
        "txids": [CASH_ACCOUNTS[1]["txid"]],
        "block_tx_count": 31,
    },
]
TRANSACTION = bytes.fromhex(CASH_ACCOUNTS[1]["transaction"])
TRANSACTION_ID = CASH_ACCOUNTS[1]["txid"]

# The unsigned transaction of the first example of BIP 143, and the digest of its second input.
BIP143_TRANSACTION = bytes.fromhex(
    "0100000002fff7f7881a8099afa6940d42d1e7f6362bec38171ea3edf433541db4e4ad969f0000000000eeffffffef51e1b804cc89d182d2"
    "79655c3aa89e815b1b309fe287d9b2b55d57b90ec68a0100000000ffffffff02202cb206000000001976a9148280b37df378db99f66f85c9"
    "5a783a76ac7a6d5988ac9093510d000000001976a9143bde42dbee7e4dbe6a21b2d50ce2f0167faa815988ac11000000"
)


def every_single_byte_change(raw: bytes):
    """The bytes with each one changed in turn, in two ways; and each byte's place."""
    for place, byte in enumerate(raw):
        for changed in (byte ^ 0x01, byte ^ 0x80):
            yield place, raw[:place] + bytes([changed]) + raw[place + 1 :]
