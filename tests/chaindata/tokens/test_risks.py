"""Tokens that a raw transaction would lose are told before it is sent."""

import pytest

from chaindata.tokens import risks
from chaindata.wire import transactions
from chaindata.wire.tokens import slp
from chaindata.wire.transactions import Input, Output
from tests.chaindata import small_chain

OTHER = "ab" * 32
GENESIS = transactions.build(
    inputs=small_chain.payment(3, [(1, b"")]).inputs,
    outputs=[Output(0, slp.script_of(slp.Genesis(b"T", b"", b"", b"", 0, 2, 1000)))] + [Output(546, b"\x51")] * 3,
)
TOKEN = GENESIS.txid


def spending(*outputs, message=None):
    """A transaction that spends these outputs of the genesis, with a message or none, and two outputs more."""
    inputs = [Input(GENESIS.txid_bytes, n, b"") for n in outputs]
    first = Output(0, slp.script_of(message)) if message else Output(1_000, b"\x51")
    return transactions.build(inputs=inputs, outputs=[first, Output(546, b"\x51"), Output(546, b"\x51")])


@pytest.mark.parametrize(
    ("made", "sentences"),
    [
        (spending(3), []),
        (spending(1), ["all of the 1,000"]),
        (spending(1, message=slp.Send(TOKEN, (600, 400))), []),
        (spending(1, message=slp.Send(TOKEN, (600, 300))), ["100 of the 1,000"]),
        (spending(1, message=slp.Send(TOKEN, (600, 300, 100))), ["100 of the 1,000"]),
        (spending(1, message=slp.Send(OTHER, (1000,))), ["all of the 1,000"]),
        (spending(2), ["minting baton"]),
        (spending(2, message=slp.Mint(TOKEN, 2, 5)), []),
        (spending(2, message=slp.Mint(OTHER, 2, 5)), ["minting baton"]),
        (spending(1, 2, message=slp.Mint(TOKEN, 2, 5)), ["all of the 1,000"]),
        (spending(1, 2), ["all of the 1,000", "minting baton"]),
    ],
)
def test_less_out_than_in_is_a_loss(made, sentences):
    found = risks.losses(transaction=made, origins={GENESIS.txid: GENESIS})
    assert len(found) == len(sentences)
    assert all(part in sentence for part, sentence in zip(sentences, found, strict=True))


def test_what_is_not_known_yet_is_not_guessed_at():
    assert risks.losses(transaction=spending(1), origins={}) == []
