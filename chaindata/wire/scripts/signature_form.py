"""The form of a signature in a script: strict DER, then one byte that says what was signed (supplement 1.6, 5.4)."""

ALL, NONE, SINGLE = 1, 2, 3
FORKID, ANYONE_CAN_PAY = 0x40, 0x80
_NAMES = {ALL: "ALL", NONE: "NONE", SINGLE: "SINGLE"}
_LEAST_BYTES, _MOST_BYTES = 9, 73  # with the byte of the hash type
_SEQUENCE, _INTEGER = 0x30, 0x02


def hash_type_words(signature: bytes) -> str:
    """`[ALL|FORKID]` and the like for a sound signature with a known type of hash; an empty text for anything else."""
    if not is_sound(signature):
        return ""
    base, flags = signature[-1] & 0x1F, signature[-1] & 0xE0
    if base not in _NAMES or flags & ~(FORKID | ANYONE_CAN_PAY):
        return ""
    words = [_NAMES[base]]
    words += ["FORKID"] if flags & FORKID else []
    words += ["ANYONECANPAY"] if flags & ANYONE_CAN_PAY else []
    return f"[{'|'.join(words)}]"


def is_sound(signature: bytes) -> bool:
    """Whether it is two integers in strict DER (BIP 66), followed by one byte of hash type."""
    if not _LEAST_BYTES <= len(signature) <= _MOST_BYTES:
        return False
    if signature[0] != _SEQUENCE or signature[1] != len(signature) - 3:
        return False
    first = signature[3]
    if 5 + first >= len(signature):
        return False
    second = signature[5 + first]
    if first + second + 7 != len(signature):
        return False
    return _is_integer(signature[2 : 4 + first]) and _is_integer(signature[4 + first : -1])


def _is_integer(raw: bytes) -> bool:
    """Tag, length and a positive number without padding."""
    tag, length, content = raw[0], raw[1], raw[2:]
    if tag != _INTEGER or length == 0 or content[0] & 0x80:
        return False
    return not (length > 1 and content[0] == 0 and not content[1] & 0x80)
