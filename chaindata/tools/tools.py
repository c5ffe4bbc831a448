"""What the desk can say of addresses, transactions, scripts and proofs from their bytes alone.

Nothing here calls the service: a page shows this at once, and the service's answer beside it.
"""

from dataclasses import dataclass

from chaindata.shared import addresses, meanings
from chaindata.shared.meanings import LayerMessage
from chaindata.wire import addresses as wire_addresses
from chaindata.wire import decoding, hashing, headers, proofs, transactions
from chaindata.wire.addresses import Address, Network
from chaindata.wire.proofs import Proof, Proven
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import Transaction

MOST_HEX = 200_000  # characters: a transaction of the largest size that is relayed
LONGEST_ADDRESS = 400
_FORMS = {"cash": "cash address", "slp": "SLP address", "legacy": "legacy address"}


class CannotRead(ValueError):
    """The text can't be read as what it should be; the message is a sentence for the person who entered it."""


# Addresses ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Conversion:
    """One address in every form. `spelled` is the form that was typed; `is_ours` whether the desk works on its network.

    `elsewhere` is the same hash on the other networks: coins sent there are not on ours.
    """

    address: Address
    spelled: str
    is_ours: bool
    script: str
    elsewhere: tuple[Address, ...]

    @property
    def pays(self) -> str:
        """What the hash is of."""
        return "public key hash" if self.address.kind is wire_addresses.Kind.KEY else "script hash"

    @property
    def asm(self) -> str:
        """The locking script in words; empty for hashes that no script pays."""
        return steps.asm(bytes.fromhex(self.script))


def convert(*, text: str) -> Conversion:
    """The address in the text, of any network. Raises `CannotRead`."""
    allowed = addresses.allowed_networks()
    others = tuple(network for network in Network if network not in allowed)
    try:
        address = wire_addresses.read(text, networks=(*allowed, *others))
    except wire_addresses.NotAnAddress as problem:
        raise CannotRead(str(problem)) from None
    try:
        script = steps.locking(address).hex()
    except steps.NotAScript:
        script = ""
    same = (Address(network, address.kind, address.hash) for network in Network if network is not address.network)
    return Conversion(address, _FORMS[_form_of(text)], address.network in allowed, script, tuple(same))


def _form_of(text: str) -> str:
    prefix, colon, _ = text.lower().rpartition(":")
    if colon:
        return "slp" if prefix in wire_addresses.SLP_PREFIX.values() else "cash"
    if len(text) < 42:
        return "legacy"
    cash = {address.rpartition(":")[2] for address in _cash_spellings(text)}
    return "cash" if text.lower() in cash else "slp"


def _cash_spellings(text: str) -> list[str]:
    address = wire_addresses.read(text)
    return [wire_addresses.Address(network, address.kind, address.hash).cash_address for network in Network]


# Bytes ----------------------------------------------------------------------------------------------------------------


def raw_of(text: str) -> bytes:
    """The bytes of a pasted hexadecimal text, in capital or small letters, with line breaks. Raises `CannotRead`."""
    digits = "".join(text.split())
    if digits[:2].lower() == "0x":
        raise CannotRead("Remove the 0x prefix: enter only the digits 0 to 9 and the letters a to f.")
    if len(digits) % 2:
        raise CannotRead(f"There are {len(digits)} digits; each byte needs two, so one is missing or extra.")
    try:
        return hashing.from_hex(digits, most_bytes=MOST_HEX // 2)
    except hashing.NotHexadecimal as problem:
        raise CannotRead(str(problem)) from None


def network() -> Network:
    """The network whose rules apply here."""
    return addresses.allowed_networks()[0]


@dataclass(frozen=True, slots=True)
class DecodedOutput:
    """An output: whom it pays, how much, and its message to the layers above."""

    n: int
    value_sat: int
    kind: str
    addresses: tuple[str, ...]
    script: str
    asm: str
    message: LayerMessage | None


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded transaction. `problem` is why no node would accept it whatever it spends, in the node's words."""

    transaction: Transaction
    txid: str
    outputs: tuple[DecodedOutput, ...]
    problem: str

    @property
    def messages(self) -> list[LayerMessage]:
        """Its messages to the layers above the chain."""
        return [output.message for output in self.outputs if output.message is not None]


def decode(*, text: str) -> Decoded:
    """The transaction in a hexadecimal text. Raises `CannotRead`."""
    raw = raw_of(text)
    if not raw:
        raise CannotRead("Paste the transaction as hexadecimal text.")
    try:
        transaction = transactions.read(raw)
    except transactions.NotATransaction as problem:
        raise CannotRead(str(problem)) from None
    return Decoded(transaction, transaction.txid, tuple(_outputs(transaction)), _broken_rule(transaction))


def _outputs(transaction: Transaction) -> list[DecodedOutput]:
    here = addresses.printing_network()
    decoded = []
    for n, output in enumerate(transaction.outputs):
        meaning = steps.meaning_of(output.script, here)
        paid = tuple(address.cash_address for address in meaning.addresses)
        message = meanings.message_of(output, n, network=here)
        asm = steps.asm(output.script)
        decoded.append(DecodedOutput(n, output.value_sat, str(meaning.kind), paid, output.script.hex(), asm, message))
    return decoded


def _broken_rule(transaction: Transaction) -> str:
    try:
        transactions.check(transaction)
    except transactions.InvalidTransaction as problem:
        return problem.reason
    return ""


@dataclass(frozen=True, slots=True)
class DecodedScript:
    """A decoded script. `p2sh` is the address that pays to its hash; empty if it pays to a script hash itself."""

    script: str
    asm: str
    kind: str
    signatures: int | None
    addresses: tuple[str, ...]
    p2sh: str
    is_cut_short: bool

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.script) // 2


def decode_script(*, text: str) -> DecodedScript:
    """The script in a hexadecimal text; any bytes are one, if not a useful one. Raises `CannotRead`."""
    raw = raw_of(text)
    if len(raw) > steps.MOST_BYTES:
        raise CannotRead(f"Scripts can be up to {steps.MOST_BYTES:,} bytes; this one is {len(raw):,}.")
    decoded = decoding.script(raw, addresses.printing_network())
    return DecodedScript(
        script=raw.hex(),
        asm=decoded["asm"],
        kind=decoded["type"],
        signatures=decoded.get("reqSigs"),
        addresses=tuple(decoded.get("addresses", ())),
        p2sh=decoded.get("p2sh", ""),
        is_cut_short=decoded["asm"].endswith("[error]"),
    )


# Proofs ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CheckedProof:
    """A proof that was checked here: what it proves, or the sentence that says why it proves nothing."""

    proof: Proof
    proven: tuple[Proven, ...]
    problem: str
    work_problem: str

    @property
    def holds(self) -> bool:
        """Whether hashes and work are right; whether the header is in the best chain is not checked here."""
        return not self.problem and not self.work_problem

    @property
    def header(self) -> headers.Header:
        """The header that the hashes lead to."""
        return self.proof.header

    @property
    def target(self) -> str:
        """The highest hash that the header may have, in hexadecimal; empty if its bits stand for none."""
        try:
            return f"{self.header.target:064x}"
        except headers.NotAHeader:
            return ""


def check_proof(*, text: str) -> CheckedProof:
    """A merkle proof with its header, checked from the leaf to the work. Raises `CannotRead` if it is none."""
    raw = raw_of(text)
    if not raw:
        raise CannotRead("Paste the proof as hexadecimal text.")
    try:
        proof = proofs.read(raw)
    except proofs.NotAProof as problem:
        raise CannotRead(str(problem)) from None
    transactions_proven, problem_text = _proven_transactions(proof)
    return CheckedProof(proof, transactions_proven, problem_text, work_problem(proof.header))


def _proven_transactions(proof: Proof) -> tuple[tuple[Proven, ...], str]:
    try:
        return tuple(proofs.proven(proof)), ""
    except proofs.NotAProof as problem:
        return (), str(problem)


def work_problem(header: headers.Header) -> str:
    """Why the work of a header does not count on the desk's network; empty if it does."""
    try:
        headers.check_work(header, easiest_target=headers.EASIEST_TARGET[network()])
    except headers.NotAHeader as problem:
        return str(problem)
    return ""
