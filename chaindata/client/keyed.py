"""The three operations that carry a private key in their path, kept apart from all others.

Whoever sees the URL of such a call can spend what the key locks: the service, every proxy on the way, everybody who
reads their logs. So no such call leaves unless the deployment allows it, and then only to this machine or by https to
a host that it names. Source: chain data, Simple-ledger tokens; supplement 3.
"""

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlsplit

from chaindata.client.core import failure_of
from chaindata.wire import addresses, catalogue, keys
from chaindata.wire.addresses import Address, Network, NotAnAddress
from wire import records
from wire.operation import BadArgument, Problem, Request, bind
from wire.reach import is_loopback
from wire.transport import Transport
from wire.values import Secret

DEADLINE_S = 30


class KeyWouldTravel(RuntimeError):
    """The call was not made: it would have carried a private key where the deployment does not allow it."""


@dataclass(frozen=True, slots=True)
class Way:
    """Whether such calls are allowed, to which hosts besides this one, and which of those may be private."""

    base_url: str
    enabled: bool = False
    hosts: Collection[str] = ()
    private_hosts: Collection[str] = ()

    def check(self) -> None:
        """Raises `KeyWouldTravel` unless the service is on this machine, or is a listed host reached by https."""
        if not self.enabled:
            raise KeyWouldTravel("Requests that carry a private key are disabled here (CHAIN_KEYED_CALLS).")
        parts = urlsplit(self.base_url)
        host = (parts.hostname or "").lower()
        if is_loopback(host):
            return
        if parts.scheme != "https" or host not in {each.lower() for each in self.hosts}:
            raise KeyWouldTravel(
                "Requests that carry a private key can go only to this machine or, over HTTPS, to a host in "
                "CHAIN_KEYED_HOSTS; the chain-data service's address is neither."
            )


@dataclass(frozen=True, slots=True)
class Funding:
    """What pays: an SLP address, its private key in compressed text form, and a cash address for the change."""

    address: str
    key: Secret
    change: str


class TokenSender:
    """Makes and moves simple-ledger tokens with a key that the service uses on our behalf. Each call is sent once.

    Raises `KeyWouldTravel` and `BadArgument` before anything is sent, `Declined` when it was refused, `Unreachable`
    when it was not sent, and `OutcomeUnknown`: then look at the funding address, and never send again before.
    """

    def __init__(self, way: Way, *, networks: Collection[Network], ca_file: str | None = None) -> None:
        way.check()
        self._networks = tuple(networks)
        self._transport = Transport(
            base_url=way.base_url,
            deadline_s=DEADLINE_S,
            failure_of=failure_of,
            ca_file=ca_file,
            private_hosts=way.private_hosts,
        )

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def create_slp_token(
        self,
        *,
        funding: Funding,
        receiver: str,
        baton: str,
        decimals: int,
        name: str,
        symbol: str,
        document_uri: str,
        document_hash: str,
        quantity: Decimal,
    ) -> str:
        """Make a token; `receiver` and `baton` are SLP addresses. The id of the transaction, which is the token's."""
        return self._send(
            "create_slp_token",
            funding,
            tokenReceiverAddress=receiver,
            batonReceiverAddress=baton,
            decimals=decimals,
            name=name,
            symbol=symbol,
            documentUri=document_uri,
            documentHash=document_hash,
            initialTokenQty=quantity,
        )

    def mint_slp_token(self, *, funding: Funding, receiver: str, baton: str, token_id: str, quantity: Decimal) -> str:
        """Make more of a token; the id of the transaction."""
        return self._send(
            "mint_slp_token",
            funding,
            tokenReceiverAddress=receiver,
            batonReceiverAddress=baton,
            tokenId=token_id,
            additionalTokenQty=quantity,
        )

    def send_slp_token(self, *, funding: Funding, receiver: str, token_id: str, amount: Decimal) -> str:
        """Send tokens; the id of the transaction."""
        return self._send("send_slp_token", funding, tokenReceiverAddress=receiver, tokenId=token_id, amount=amount)

    def _send(self, operation: str, funding: Funding, /, **arguments: object) -> str:
        request = self._bound(operation, funding, arguments)
        txid: str = records.decode(self._transport.send(request).body, request.operation.result)
        return txid

    def _bound(self, operation: str, funding: Funding, arguments: dict[str, object]) -> Request:
        """The request. Only this function holds the revealed key, and it has returned before a call can fail."""
        self._check_addresses(funding, arguments)
        params = {
            "fundingAddress": funding.address,
            "fundingWif": funding.key.reveal(),
            "bchChangeReceiverAddress": funding.change,
            **arguments,
        }
        return bind(catalogue.by_name[operation], params)

    def _check_addresses(self, funding: Funding, arguments: dict[str, object]) -> None:
        """Check that the key is that of the funding address, and that each address has the form that the call takes."""
        paying = self._address("fundingAddress", funding.address, form="slp_address")
        self._address("bchChangeReceiverAddress", funding.change, form="cash_address")
        for param in ("tokenReceiverAddress", "batonReceiverAddress"):
            if param in arguments:
                self._address(param, str(arguments[param]), form="slp_address")
        try:
            key = keys.read(funding.key, paying.network)
        except keys.NotAKey as problem:
            raise BadArgument("fundingWif", Problem.MALFORMED, None, str(problem)) from None
        if key.address.hash != paying.hash or paying.kind is not addresses.Kind.KEY:
            raise BadArgument("fundingWif", Problem.MALFORMED, None, "it is not the funding address's key")

    def _address(self, param: str, text: str, *, form: str) -> Address:
        try:
            address = addresses.read(text, networks=self._networks)
        except NotAnAddress as problem:
            # The message must not repeat a key that was typed in the place of an address.
            raise BadArgument(param, Problem.MALFORMED, None, str(problem)) from None
        if not text.lower().startswith(getattr(address, form).partition(":")[0] + ":"):
            raise BadArgument(param, Problem.MALFORMED, None, f"a {form.replace('_', ' ')} with its prefix is required")
        return address
