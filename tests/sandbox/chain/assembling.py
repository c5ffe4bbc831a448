"""Scripts out of words, for tests: `DUP HASH160 <00ff> EQUALVERIFY`, small numbers, and `'text'`."""

from chaindata.wire.scripts import steps
from chaindata.wire.scripts.opcodes import NAMES

CODES = {name.removeprefix("OP_"): code for code, name in NAMES.items()}


def code(text: str) -> bytes:
    """Words apart by spaces: opcodes without `OP_`, numbers, `<hex>` and `'text'` pushed, `0x…` as it stands."""
    return b"".join(_word(word) for word in text.split())


def _word(word: str) -> bytes:
    if word in CODES:
        return bytes([CODES[word]])
    if word.startswith("0x"):
        return bytes.fromhex(word[2:])
    if word.startswith("<"):
        return steps.push(bytes.fromhex(word[1:-1]))
    if word.startswith("'"):
        return steps.push(word[1:-1].encode())
    return steps.push_number(int(word))
