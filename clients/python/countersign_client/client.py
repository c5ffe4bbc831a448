"""The client that programs make: the operations over the transport, and following what changes."""

from collections.abc import Iterator
from functools import partial

from countersign_client import live
from countersign_client.operations import Operations


class Client(Operations):
    """One desk, with one token. A context manager; see `Transport` for what it is made of."""

    def follow(self, *topics: str) -> Iterator[live.Update]:
        """What changes of these topics, for as long as you iterate; needs the extra `live` of this package.

        Each topic comes once at the beginning, and again after each socket that was lost, since something may have been
        missed: read it then, as after every update. Lost sockets are opened anew; after `attempts` in a row that said
        nothing `NoAnswer` is raised, and `NotSignedIn` or `NotAllowed` once the token may not follow a topic any more.
        """
        begin = partial(live.updates, self._socket_url, self._authorization, topics, silence_s=2 * self._timeout_s)
        return live.again(begin, attempts=self._attempts, pause=self._pause)
