"""Bundles changed by somebody who knows their form: the manifest is right again, and the audit rows link again."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

Members = dict[str, bytes]


def content(members: Members, name: str) -> Any:
    """A member as JSON."""
    return json.loads(members[name])


def with_json(members: Members, name: str, change: Callable[[Any], Any]) -> Members:
    """The bundle with one member changed in place, and sealed again."""
    value = content(members, name)
    change(value)
    return sealed(members | {name: json.dumps(value).encode()})


def sealed(members: Members) -> Members:
    """The bundle with the manifest of its members as they are now, and of the audit rows as they begin and end now."""
    manifest = content(members, "manifest.json")
    names = {entry["name"] for entry in manifest["members"]} & members.keys()
    manifest["members"] = [
        {"name": name, "sha256": hashlib.sha256(members[name]).hexdigest()} for name in sorted(names)
    ]
    rows = audit_rows(members)
    manifest["audit"] |= {"first": [rows[0]["row"][0], rows[0]["hash"]], "last": [rows[-1]["row"][0], rows[-1]["hash"]]}
    raw = json.dumps(manifest).encode()
    seal = f"{hashlib.sha256(raw).hexdigest()}  manifest.json\n".encode()
    return members | {"manifest.json": raw, "manifest.sha256": seal}


def audit_rows(members: Members) -> list[dict[str, Any]]:
    """The audit rows as they are in the bundle."""
    return [json.loads(line) for line in members["audit.jsonl"].splitlines()]


def with_rows(members: Members, rows: list[dict[str, Any]], *, linked: bool = False) -> Members:
    """The bundle with other audit rows, sealed again; `linked` numbers and hashes them anew."""
    if linked:
        first = rows[0]["row"][0]
        for place, row in enumerate(rows):
            row["row"][0] = first + place
            row["row"][1] = rows[place - 1]["hash"] if place else row["row"][1]
            text = json.dumps(row["row"], sort_keys=True, separators=(",", ":"))
            row["hash"] = hashlib.sha256(text.encode()).hexdigest()
    return sealed(members | {"audit.jsonl": "".join(json.dumps(row) + "\n" for row in rows).encode()})


def with_amount(members: Members, amount: str, *, at: int = 0) -> Members:
    """History rewritten as if another amount had been requested, from the audit row at this place on."""
    rows = audit_rows(members)
    after = json.loads(rows[at]["row"][8]) | {"amount": amount}
    rows[at]["row"][8] = json.dumps(after, sort_keys=True, separators=(",", ":"))

    def requested(request: Any) -> None:
        request["columns"]["amount"] = request["digest"]["covers"]["amount"] = amount

    members = with_rows(with_json(members, "request.json", requested), rows, linked=True)
    return with_json(members, "events.json", lambda events: events[at]["changes"].update(amount=amount))
