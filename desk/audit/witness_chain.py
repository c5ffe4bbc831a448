"""The chain of witnesses: one entry for every transaction that wrote witnessed rows, with a digest of each row.

An entry carries the hash of the previous entry and a code under a key that is derived from the key ring and stored in
no database; its head is appended to a file outside. So a person who can write into every table, but has neither the
keys nor the file, can't add, change, revert or remove a row unnoticed: `findings` compares every row of every
registered table (`desk.rows.witnessed`) with the last entry about it.

The connection itself writes the entry right before it commits (`desk.database`). The entries are not the audit trail,
which says who did what; the events of the trail are among the witnessed rows. The first entry states which columns of
each table are witnessed, so that a later version knows by which columns to compare rows (`witness_columns`).
"""

import json
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.db import connection, transaction
from django.db.models import Q

from desk import clock, rooms, sealing
from desk.audit import heads, trail
from desk.models import RowWitness
from desk.rows import witnessed
from desk.rows.witnessed import Table

HEADS_FILE = "row-heads.log"
CONTEXT = "desk.witness"
# As text: Django would take longer to build this query than everything else here takes.
_NEWEST = "SELECT seq, hash FROM desk_rowwitness ORDER BY seq DESC LIMIT 1"
MOST_ROWS = 1000  # of one table in one entry
_WALKED_AT_ONCE = 100  # entries read at once; each may be about that many rows
# Different from the audit trail's: this turn is the last lock that a transaction takes, so whoever has it waits for
# nobody else.
_LOCK_KEY = 0x7769746E657373

Vouched = dict[str, dict[str, tuple[str | None, int]]]
"""By table and key of a row: its last witness (None once it was removed) and the number of that entry."""


class CannotVouch(sealing.CannotSeal):
    """The entries don't verify, so they get no entry under a newer key; the text says what is wrong first."""


def write_noted() -> None:
    """Witness what this transaction has written so far. The connection calls it right before it commits."""
    noted, connection.unwitnessed = connection.unwitnessed, {}  # type: ignore[attr-defined]
    remaining = {table: sorted(keys, key=str) for table, keys in noted.items()}
    while remaining:
        batch = {table: keys[:MOST_ROWS] for table, keys in remaining.items()}
        rows = {
            table.label: dict.fromkeys(map(str, keys)) | dict(table.witnesses(keys)) for table, keys in batch.items()
        }
        append({"rows": rows}, rules=any(table.rules for table in batch))
        remaining = {table: keys[MOST_ROWS:] for table, keys in remaining.items() if keys[MOST_ROWS:]}


def confirmations_before() -> int:
    """The number of the last confirmation from before confirmations had codes; 0 on a desk that began with them.

    The first entry of a desk that is older than the witnessing of rows states it and vouches for those.
    """
    first = RowWitness.objects.order_by("seq").first()
    if first is None or not _is_authentic(first, sealing.checker(context=CONTEXT)):
        return 0
    number: int = json.loads(first.content).get("begun", {}).get("confirmations", 0)
    return number


def last_witnesses(label: str, keys: Collection[str]) -> dict[str, str | None]:
    """By key the last witness of these rows of a table, None for a removed row.

    Left out are rows without an entry, and rows whose last entry the desk did not provably write.
    """
    latest: dict[str, tuple[str | None, int]] = {}
    unproven: list[int] = []
    lost: list[int] = []
    seq, prev, is_authentic = 0, trail.NO_HEAD, sealing.checker(context=CONTEXT)
    for entry in RowWitness.objects.order_by("seq").iterator(chunk_size=_WALKED_AT_ONCE):
        content = _content(entry)
        if entry.prev != prev:  # a later entry vouches only over an unbroken chain
            lost, unproven = lost + unproven, []
        if _is_authentic(entry, is_authentic):
            unproven = _still_unproven(unproven, content.get("vouched"), {seq: prev})
        else:
            unproven.append(entry.seq)
        rows = content.get("rows", {}).get(label, {})
        latest.update({key: (witness, entry.seq) for key, witness in rows.items() if key in keys})
        seq, prev = entry.seq, entry.hash
    doubtful = {*lost, *unproven}
    return {key: witness for key, (witness, number) in latest.items() if number not in doubtful}


def stated_columns() -> dict[str, list[str]]:
    """By table the witnessed columns that the newest genuine entry states; empty where none does."""
    stated: dict[str, list[str]] = {}
    is_authentic = sealing.checker(context=CONTEXT)
    stating = Q(seq=1) | Q(rules=True, content__startswith='{"columns"')
    for entry in RowWitness.objects.filter(stating).order_by("seq"):
        if _is_authentic(entry, is_authentic) or _is_vouched(entry, is_authentic):
            stated |= json.loads(entry.content).get("columns", {})
    return stated


def findings() -> Iterator[str]:
    """A sentence for every row that is not as the desk wrote it, and for every fault in the entries.

    The file of heads is read now, the rows together with the sentences (`heads.findings`).
    """
    vouched: Vouched = {}
    hashes: dict[int, str] = {}
    of_heads = heads.findings(
        heads_path(),
        hashes,
        chain="chain of row witness entries",
        file="row heads file",
        lost=rooms.lost_heads(HEADS_FILE),
    )
    return _sentences(vouched, hashes, of_heads)


def _sentences(vouched: Vouched, hashes: dict[int, str], of_heads: Iterator[str]) -> Iterator[str]:
    if connection.in_atomic_block and connection.unwitnessed:  # type: ignore[attr-defined]
        write_noted()
    yield from _chain(vouched, hashes)
    yield from of_heads
    for table in witnessed.tables():
        yield from _compared(table, vouched.get(table.label, {}))


def has_foreign_rows(*models: Any) -> bool:
    """Whether these tables hold a row that the desk did not write, or lack one. Only for tables marked `rules`.

    What this transaction itself has written is trusted; it is witnessed when it commits.
    """
    tables = [table for table in witnessed.tables() if table.model in models]
    vouched: Vouched = {}
    is_authentic = sealing.checker(context=CONTEXT)
    for entry in RowWitness.objects.filter(rules=True).order_by("seq"):
        if _is_authentic(entry, is_authentic) or _is_vouched(entry, is_authentic):
            _fold(entry, json.loads(entry.content), vouched)
    own = {table: {str(key) for key in keys} for table, keys in connection.unwitnessed.items()}  # type: ignore[attr-defined]
    return any(
        key not in own.get(table, ())
        for table in tables
        for key, _ in _differences(table, vouched.get(table.label, {}))
    )


def vouch_all(_: rooms.Rewrap) -> int:
    """After the ring got a newer key: append an entry under it that vouches for all earlier ones, if they verify.

    Then the older keys can be removed: the hash of the last entry stands for every earlier one.
    """
    with transaction.atomic():
        wait_for_turn()
        newest = RowWitness.objects.order_by("-seq").first()
        under_now = f"{sealing.newest_id()}:"
        vouched = RowWitness.objects.filter(code__startswith=under_now, content__startswith='{"vouched"')
        last = vouched.order_by("-seq").values_list("seq", flat=True).first() or 0
        if newest is None or not RowWitness.objects.filter(seq__gt=last).exclude(code__startswith=under_now).exists():
            return 0
        problem = next(_chain({}, {}), None)
        if problem is not None:
            raise CannotVouch(f"The row witness entries do not verify, so the older keys must be kept: {problem}")
        append({"vouched": {"through": newest.seq, "hash": newest.hash}}, rules=True)
    return 1


def heads_path() -> Path:
    """The file of heads, outside the database."""
    return heads.folder() / HEADS_FILE


def append(content: dict[str, Any], *, rules: bool) -> None:
    """Write one entry, inside a transaction; its head goes to the file once that is committed. See `RowWitness`."""
    wait_for_turn()
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST)
        seq, prev = cursor.fetchone() or (0, trail.NO_HEAD)
    if not seq:
        content = content | {"columns": witnessed.columns()}
    entry = RowWitness(seq=seq + 1, prev=prev, at=clock.now(), content=trail.canonical(content), rules=rules)
    entry.hash = _hash(entry)
    entry.code = sealing.authenticate(entry.hash.encode(), context=CONTEXT)
    entry.save(force_insert=True)
    number, digest, at = entry.seq, entry.hash, entry.at  # not the entry: a long transaction would hold every content
    transaction.on_commit(lambda: heads.append(heads_path(), seq=number, hash=digest, at=at))


def wait_for_turn() -> None:
    """Wait until nobody else appends an entry, and keep others waiting until this transaction ends."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK_KEY])


def _hash(entry: RowWitness) -> str:
    at = entry.at.astimezone(UTC).isoformat(timespec="microseconds") if isinstance(entry.at, datetime) else entry.at
    text = trail.canonical([entry.seq, entry.prev, at, entry.rules, entry.content])
    return sha256(text.encode()).hexdigest()


def _chain(vouched: Vouched, hashes: dict[int, str]) -> Iterator[str]:
    """Check the entries in order; fills `vouched` with what they say of rows, and `hashes` by their numbers."""
    expected, prev = 1, trail.NO_HEAD
    is_authentic = sealing.checker(context=CONTEXT)
    unproven: list[int] = []
    try:
        for entry in RowWitness.objects.order_by("seq").iterator(chunk_size=2000):
            if entry.seq != expected:
                yield f"Row witness entry {expected} is missing: the next one is {entry.seq}."
            if entry.prev != prev:
                yield (
                    f"Row witness entry {entry.seq} does not link to the previous entry: "
                    "its previous hash does not match."
                )
            if _hash(entry) != entry.hash:
                yield f"Row witness entry {entry.seq} was changed: its content does not match its hash."
            content = json.loads(entry.content)
            if _is_authentic(entry, is_authentic):
                unproven = _still_unproven(unproven, content.get("vouched"), hashes)
            else:
                unproven.append(entry.seq)
            _fold(entry, content, vouched)
            hashes[entry.seq] = entry.hash
            expected, prev = entry.seq + 1, entry.hash
    except (ValueError, TypeError, AttributeError, LookupError) as error:  # SQLite keeps whatever is put into a column
        why = type(error).__name__
        yield f"A row witness entry after entry {expected - 1} can't be read: its columns were changed ({why})."
    for seq in unproven:
        yield f"Row witness entry {seq} was not written by the desk: its authentication code does not verify."


def _still_unproven(unproven: list[int], vouched: dict[str, Any] | None, hashes: dict[int, str]) -> list[int]:
    if vouched is None or hashes.get(vouched["through"]) != vouched["hash"]:
        return unproven
    return [seq for seq in unproven if seq > vouched["through"]]


def _content(entry: RowWitness) -> dict[str, Any]:
    """The content of an entry; empty where it can't be read, which `findings` reports."""
    try:
        content = json.loads(entry.content)
    except (TypeError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _is_authentic(entry: RowWitness, is_authentic: sealing.Check) -> bool:
    return is_authentic(entry.code, entry.hash.encode()) and _hash(entry) == entry.hash


def _is_vouched(entry: RowWitness, is_authentic: sealing.Check) -> bool:
    """Whether a later entry under a key of the ring vouches for this one, over an unbroken chain of hashes."""
    vouching = RowWitness.objects.filter(rules=True, seq__gt=entry.seq, content__startswith='{"vouched"').order_by(
        "seq"
    )
    later = next((row for row in vouching if _is_authentic(row, is_authentic)), None)
    if later is None:
        return False
    links = RowWitness.objects.filter(seq__gte=entry.seq, seq__lte=later.seq).order_by("seq")
    prev = None
    for link in links.iterator(chunk_size=2000):
        if _hash(link) != link.hash or (prev is not None and link.prev != prev):
            return False
        prev = link.hash
    return True


def _fold(entry: RowWitness, content: dict[str, Any], vouched: Vouched) -> None:
    for label, rows in content.get("rows", {}).items():
        latest = vouched.setdefault(label, {})
        for key, witness in rows.items():
            latest[key] = (witness, entry.seq)


def _compared(table: Table, vouched: dict[str, tuple[str | None, int]]) -> Iterator[str]:
    try:
        for _, sentence in _differences(table, vouched):
            yield sentence
    except Exception as error:  # SQLite keeps whatever is put into a column: what can't be read was changed
        yield f"The rows of {table.label} can't be read: their columns were changed ({type(error).__name__})."


def _differences(table: Table, vouched: dict[str, tuple[str | None, int]]) -> Iterator[tuple[str, str]]:
    """Key and sentence of each row that differs from its last witness."""
    keys = set()
    for key, witness in table.witnesses():
        keys.add(key)
        old, seq = vouched.get(key, (None, 0))
        if old is None:
            yield key, f"{table.label} {key} was not written by the desk: no entry records it."
        elif old[:32] != witness[:32]:
            names = ", ".join(table.changed(old, witness)) or "a column"
            yield key, f"{table.label} {key} was altered outside the desk: {names} changed (row entry {seq})."
    for key, (old, seq) in vouched.items():
        if old is not None and key not in keys:
            yield key, f"{table.label} {key} was removed; row entry {seq} still records it."
