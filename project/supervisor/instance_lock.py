"""One house per data folder: the claim is a lock that ends with its process, and says who holds it."""

import contextlib
import fcntl
import json
import os
from pathlib import Path


class CannotClaim(Exception):
    """The folder is in use, or a port is taken; the text is the sentence for the person who starts."""


class Claim:
    """Held from `acquire` to `release`, or to the end of the process, whichever comes first."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "up.json"
        self._descriptor = -1
        self.was_cut_off = False

    def acquire(self, *, port: int, sandbox_port: int) -> None:
        """Take the folder or raise `CannotClaim`; `was_cut_off` then says whether the last holder was killed."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise CannotClaim(self._holder()) from None
        os.set_inheritable(descriptor, False)
        self._descriptor = descriptor
        self.was_cut_off = os.fstat(descriptor).st_size > 0
        self._write(json.dumps({"pid": os.getpid(), "port": port, "sandbox_port": sandbox_port}))

    def release(self) -> None:
        """Give the folder back. The file stays, empty: taking it away would let two starts lock two files."""
        if self._descriptor >= 0:
            self._write("")
            os.close(self._descriptor)
            self._descriptor = -1

    def _write(self, text: str) -> None:
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)

    def _holder(self) -> str:
        held = {}
        with contextlib.suppress(ValueError, OSError):
            held = json.loads(self._path.read_text())
        return (
            f"Countersign is already running on {self._path.parent} "
            f"(process {held.get('pid', 'unknown')}, http://localhost:{held.get('port', '?')}/). "
            "Stop it first, or set DATA_DIR, PORT and SANDBOX_PORT for a second one."
        )
