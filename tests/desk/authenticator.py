"""A passkey in software: makes a key pair, registers it as a row, and signs challenges like a device would."""

import hashlib
import json
import secrets
import struct
from typing import Any

from allauth.mfa.models import Authenticator
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import AttestedCredentialData

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40
ORIGIN = "http://localhost:8000"


class SoftKey:
    """One credential for one host name."""

    def __init__(self, host: str = "localhost") -> None:
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.host_hash = hashlib.sha256(host.encode()).digest()
        self.credential_id = secrets.token_bytes(24)
        self.count = 0

    def enrol(self, person: Any) -> Authenticator:
        """Put the row into the database that a registration in the browser would leave."""
        public = ES256.from_cryptography_key(self.private.public_key())
        attested = AttestedCredentialData.create(b"\0" * 16, self.credential_id, public)
        data = self.host_hash + struct.pack(">BI", PRESENT | VERIFIED | ATTESTED, 0) + bytes(attested)
        attestation = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        client = json.dumps({"type": "webauthn.create", "challenge": "AAAA", "origin": ORIGIN}).encode()
        credential = {
            "id": websafe_encode(self.credential_id),
            "rawId": websafe_encode(self.credential_id),
            "type": "public-key",
            "response": {"clientDataJSON": websafe_encode(client), "attestationObject": websafe_encode(attestation)},
        }
        row: Authenticator = Authenticator.objects.create(
            user=person, type=Authenticator.Type.WEBAUTHN, data={"name": "key", "credential": credential}
        )
        return row

    def answer(
        self,
        options: dict[str, Any],
        *,
        origin: str = ORIGIN,
        flags: int = PRESENT | VERIFIED,
        count: int | None = None,
        **client_changes: Any,
    ) -> dict[str, Any]:
        """What the browser hands back for these options; every part of it can be bent for a test."""
        self.count += 1
        client = {"type": "webauthn.get", "challenge": options["publicKey"]["challenge"], "origin": origin}
        return self.signed(
            json.dumps({**client, "crossOrigin": False, **client_changes}).encode(),
            self.host_hash + struct.pack(">BI", flags, self.count if count is None else count),
        )

    def signed(self, client: bytes, data: bytes) -> dict[str, Any]:
        """The answer with a right signature over these two parts."""
        signature = self.private.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        credential = {
            "id": websafe_encode(self.credential_id),
            "rawId": websafe_encode(self.credential_id),
            "type": "public-key",
            "response": {
                "clientDataJSON": websafe_encode(client),
                "authenticatorData": websafe_encode(data),
                "signature": websafe_encode(signature),
            },
            "clientExtensionResults": {},
        }
        return {"kind": "passkey", "credential": credential}
