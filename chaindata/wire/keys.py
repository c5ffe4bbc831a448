"""Private keys and signatures of the chain: the text form of a key, signing, and checking what others signed.

Source: supplement 5.1 (WIF) and 5.4. The curve is secp256k1; signatures are in DER with the lower of the two possible
values, and deterministic (RFC 6979), so that a chain made anew is the same one.
"""

from dataclasses import dataclass
from functools import cached_property

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from chaindata.wire.addresses import Address, Kind, Network
from chaindata.wire.hashing import hash160
from wire import encodings
from wire.encodings import NotEncoded
from wire.values import Secret

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
WIF_VERSION = {Network.MAIN: 128, Network.TEST: 239, Network.REGTEST: 239}
_KEY_BYTES = 32
_COMPRESSED = b"\x01"
_DIGEST = ec.ECDSA(utils.Prehashed(hashes.SHA256()))
_DETERMINISTIC = ec.ECDSA(utils.Prehashed(hashes.SHA256()), deterministic_signing=True)


class NotAKey(ValueError):
    """The text is no private key of this chain; its message never repeats the text."""


@dataclass(frozen=True)
class PrivateKey:
    """A private key and the network of its text form. Shows itself only in `wif`."""

    network: Network
    secret: Secret  # 64 hexadecimal digits

    @cached_property
    def _key(self) -> ec.EllipticCurvePrivateKey:
        return ec.derive_private_key(int(self.secret.reveal(), 16), ec.SECP256K1())

    @cached_property
    def public_key(self) -> bytes:
        """Its public key, compressed: 33 bytes."""
        return self._key.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)

    @property
    def address(self) -> Address:
        """The address of its public key."""
        return Address(self.network, Kind.KEY, hash160(self.public_key))

    @property
    def wif(self) -> Secret:
        """Its text form, compressed."""
        payload = bytes([WIF_VERSION[self.network]]) + bytes.fromhex(self.secret.reveal()) + _COMPRESSED
        return Secret(encodings.base58check_encode(payload))

    def sign(self, digest: bytes) -> bytes:
        """The signature of 32 bytes, in DER, without the byte of a hash type."""
        r, s = utils.decode_dss_signature(self._key.sign(digest, _DETERMINISTIC))
        return utils.encode_dss_signature(r, min(s, ORDER - s))


def of_number(number: int, network: Network) -> PrivateKey:
    """The private key that is this number. Bounds: 1 to the order of the curve, exclusive."""
    if not 0 < number < ORDER:
        raise NotAKey("Private keys must be at least 1 and less than the order of the curve.")
    return PrivateKey(network, Secret(f"{number:064x}"))


def read(wif: Secret, network: Network) -> PrivateKey:
    """The private key that a text form spells. Raises `NotAKey`: for other networks and forms, too."""
    try:
        payload = encodings.base58check_decode(wif.reveal())
    except NotEncoded:
        raise NotAKey("Invalid private key: a character is wrong, missing or extra.") from None
    if payload[0] != WIF_VERSION[network]:
        raise NotAKey(f"This private key is not for the {network} network.")
    if len(payload) != 1 + _KEY_BYTES + 1 or payload[-1:] != _COMPRESSED:
        raise NotAKey("The private key must be in compressed form.")
    return of_number(int.from_bytes(payload[1:-1], "big"), network)


def is_signed(digest: bytes, *, signature: bytes, public_key: bytes) -> bool:
    """Whether the signature (DER, lower value, without a hash type) of 32 bytes is that of the public key."""
    try:
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256K1(), public_key)
        _, s = utils.decode_dss_signature(signature)
        key.verify(signature, digest, _DIGEST)
    except (ValueError, InvalidSignature):
        return False
    return 2 * s <= ORDER
