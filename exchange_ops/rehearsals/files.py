"""The file between a desk and its rehearsal: one JSON object, written by the one and read by the other.

`exchange` is what a sandbox begins its world from, and is read there alone (`sandbox/world/figures/reading.py`); `desk`
is what the second desk takes over. Accounts are named by their place in the lists, from 1, and people by their user
names. No secret, hash, key, factor, session, token or address of a message has a place in it.
"""

import os
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

FORMAT: Final = "countersign-rehearsal"
VERSION: Final = 1
FILE_NAME: Final = "figures.json"
LARGEST_BYTES: Final = 32 * 1024 * 1024
MOST_PAYEES: Final = 2_000

Name = Annotated[str, Meta(min_length=1, max_length=150)]
Number = Annotated[int, Meta(ge=1, le=20)]


class CannotReadFile(Exception):
    """The file is not used; the text is one sentence that says why."""


class AccountFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """An account by its name and the currency that its figures are valued in."""

    name: Annotated[str, Meta(min_length=1, max_length=80)]
    quote_currency: Annotated[str, Meta(min_length=1, max_length=20)]


class PersonFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """A person by name and roles; a grant is `treasury`, or `treasury:2` for the second account."""

    username: Name
    first_name: Annotated[str, Meta(max_length=150)]
    last_name: Annotated[str, Meta(max_length=150)]
    grants: Annotated[tuple[Annotated[str, Meta(pattern=r"^[a-z]+(:[0-9]{1,2})?\Z")], ...], Meta(max_length=100)]


class PayeeFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """An approved payee, who added it, who approved it, and when it began to count (ISO 8601)."""

    account: Number
    currency: Annotated[str, Meta(max_length=20)]
    address: Annotated[str, Meta(max_length=256)]
    payment_id: Annotated[str, Meta(max_length=256)]
    title: Annotated[str, Meta(max_length=80)]
    owner: Annotated[str, Meta(max_length=80)]
    group: Annotated[str, Meta(max_length=80)]
    supplier: Annotated[str, Meta(max_length=80)]
    evidence: Annotated[str, Meta(max_length=500)]
    added_by: Name
    approved_by: Annotated[tuple[Name, ...], Meta(max_length=9)]
    counts_from: Annotated[str, Meta(max_length=40)]


class PolicyFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """The rules in force as `ruleset.as_json` writes them, with accounts by place and people by user name."""

    number: Annotated[int, Meta(ge=0)]
    note: Annotated[str, Meta(max_length=300)]
    content: dict[str, Any]


class DeskFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """What the second desk takes over."""

    accounts: Annotated[tuple[AccountFacts, ...], Meta(min_length=1, max_length=20)]
    people: Annotated[tuple[PersonFacts, ...], Meta(min_length=1, max_length=500)]
    policy: PolicyFacts | None
    payees: Annotated[tuple[PayeeFacts, ...], Meta(max_length=MOST_PAYEES)]


class File(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file. `made_at` is when the desk's rows were read, by its clock."""

    format: str
    version: int
    made_at: Annotated[str, Meta(max_length=40)]
    exchange: dict[str, Any]
    desk: DeskFacts


class _Kind(Struct, frozen=True):
    """What is read first: whether the rest can be."""

    format: str = ""
    version: int = 0


def write(file: File, path: Path) -> None:
    """Write the file for its owner alone, whole or not at all."""
    beside = path.with_suffix(".part")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as target:
        target.write(msgspec.json.format(msgspec.json.encode(file), indent=1))
        target.flush()
        os.fsync(target.fileno())
    beside.replace(path)


def read(path: Path) -> File:
    """The file at `path`. Raises CannotReadFile for one that is absent, too large, of another version, or odd."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise CannotReadFile(f"{path} is larger than {LARGEST_BYTES // 2**20} MiB; nothing was loaded.")
        raw = path.read_bytes()
        kind = msgspec.json.decode(raw, type=_Kind)
        if (kind.format, kind.version) == (FORMAT, VERSION):
            return msgspec.json.decode(raw, type=File)
    except OSError as problem:
        raise CannotReadFile(f"{path} can't be read: {problem.strerror}. Nothing was loaded.") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise CannotReadFile(f"{path} has an odd value: {problem}. Nothing was loaded.") from None
    if kind.format != FORMAT:
        raise CannotReadFile(f"{path} is no file of figures for a rehearsal. Nothing was loaded.")
    raise CannotReadFile(
        f"{path} has version {kind.version} of the format, and this desk reads version {VERSION}. Nothing was loaded; "
        "make the file again with manage.py rehearse --fresh."
    )
