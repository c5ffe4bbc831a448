"""The client that programs make: the operations over the transport."""

from countersign_client.operations import Operations


class Client(Operations):
    """One desk, with one token. A context manager; see `Transport` for what it is made of."""
