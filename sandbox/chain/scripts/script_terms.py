"""What scripts are held to: the bounds of their execution, the rules that apply, and why an output stays locked.

Source: the node's words and codes (supplement 1.9, 5.4); the opcodes that the chain took back or added up to May 2020.
"""

from enum import Flag, StrEnum, auto

MOST_OPERATIONS = 201  # of one script, pushes not counted, each key of a multisig counted
MOST_ELEMENTS = 1_000  # on both stacks together
MOST_KEYS = 20  # of one multisig
NUMBER_BYTES = 4
LOCKTIME_BYTES = 5


class Rule(Flag):
    """What is asked of a script that is relayed beyond what is asked of every one.

    Strict signatures of the lower value, empty ones where a check fails, and pushes and numbers of the shortest form
    are asked of every script.
    """

    PUSH_ONLY = auto()
    CLEAN_STACK = auto()
    LOCKTIMES = auto()
    NO_SPARE_OPCODES = auto()
    SIGNATURE_CHECKS = auto()


MANDATORY = Rule(0)
STANDARD = ~Rule(0)


class Reason(StrEnum):
    """Why a script does not unlock an output, in the node's words."""

    UNKNOWN = "unknown error"
    ENDS_FALSE = "Script evaluated without error but finished with a false/empty top stack element"
    VERIFY = "Script failed an OP_VERIFY operation"
    EQUALVERIFY = "Script failed an OP_EQUALVERIFY operation"
    NUMEQUALVERIFY = "Script failed an OP_NUMEQUALVERIFY operation"
    CHECKSIGVERIFY = "Script failed an OP_CHECKSIGVERIFY operation"
    CHECKDATASIGVERIFY = "Script failed an OP_CHECKDATASIGVERIFY operation"
    CHECKMULTISIGVERIFY = "Script failed an OP_CHECKMULTISIGVERIFY operation"
    SCRIPT_SIZE = "Script is too big"
    PUSH_SIZE = "Push value size limit exceeded"
    OPERATIONS = "Operation limit exceeded"
    STACK_SIZE = "Stack size limit exceeded"
    SIGNATURE_COUNT = "Signature count negative or greater than pubkey count"
    KEY_COUNT = "Pubkey count negative or limit exceeded"
    OPERAND_SIZE = "Invalid operand size"
    NUMBER_RANGE = "Given operand is not a number within the valid range [-2^31...2^31]"
    IMPOSSIBLE_ENCODING = "The requested encoding is impossible to satisfy"
    SPLIT_RANGE = "Invalid OP_SPLIT range"
    BITFIELD_SIZE = "Bitfield of unexpected size error"
    BIT_RANGE = "Bitfield's bit out of the expected range"
    BIT_COUNT = "Invalid number of bit set in OP_CHECKMULTISIG"
    BAD_OPCODE = "Opcode missing or not understood"
    DISABLED_OPCODE = "Attempted to use a disabled opcode"
    STACK = "Operation not valid with the current stack size"
    ALTERNATE_STACK = "Operation not valid with the current altstack size"
    RETURN = "OP_RETURN was encountered"
    CONDITIONAL = "Invalid OP_IF construction"
    DIVISION = "Division by zero error"
    MODULO = "Modulo by zero error"
    NEGATIVE_LOCKTIME = "Negative locktime"
    LOCKTIME = "Locktime requirement not satisfied"
    HASH_TYPE = "Signature hash type missing or not understood"
    DER = "Non-canonical DER signature"
    MINIMAL = "Data push larger than necessary"
    PUSH_ONLY = "Only push operators allowed in signature scripts"
    HIGH_S = "Non-canonical signature: S value is unnecessarily high"
    NOT_EMPTY = "Signature must be zero for failed CHECK(MULTI)SIG operation"
    SPARE_OPCODE = "NOPx reserved for soft-fork upgrades"
    KEY_FORM = "Public key is neither compressed or uncompressed"
    SIGNATURE_CHECKS = "Input SigChecks limit exceeded"
    CLEAN_STACK = "Extra items left on stack after execution"
    NO_FORKID = "Signature must use SIGHASH_FORKID"
    SCHNORR_NOT_HERE = "Signature cannot be 65 bytes in CHECKMULTISIG"
    ONLY_SCHNORR = "Only Schnorr signatures allowed in this operation"


class CannotUnlock(Exception):
    """The scripts do not unlock the output."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason
