"""The company's own account numbers for the accounts of the journal, and the settings of the programs that take them.

One mapping for the whole desk. Administrators change it, at once and without a second person: nothing is paid by it.
Each change is a new version that is never edited.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db import transaction

from desk.audit import trail
from desk.machines.guards import Guards
from desk.people import roles
from exchange_ops.statements import journal
from exchange_ops.statements.models import AccountMapping

if TYPE_CHECKING:
    from desk.models import Person

LONGEST_NUMBER, LONGEST_NAME = 20, 80
CONSULTANT, CLIENT, LENGTH, YEAR = "datev_consultant", "datev_client", "datev_length", "datev_year"
TAX_RATE, TRACKING = "xero_tax_rate", "xero_tracking"
SETTINGS: Final = {
    CONSULTANT: "DATEV consultant number (Beraternummer)",
    CLIENT: "DATEV client number (Mandantennummer)",
    LENGTH: "DATEV account number length (Sachkontenlänge)",
    YEAR: "First month of the fiscal year",
    TAX_RATE: "Xero tax rate",
    TRACKING: "Xero tracking category",
}
DATEV_CURRENCY: Final = "EUR"
DEFAULTS: Final = {LENGTH: "4", YEAR: "1"}
WHO: Final = "An administrator for all accounts can change it under Journal accounts."
# The ranges of a setting that is a number. Source: DATEV Developer Portal, DATEV format, Header.
RANGES: Final = {CONSULTANT: (1001, 9_999_999), CLIENT: (1, 99_999), LENGTH: (4, 8), YEAR: (1, 12)}
GUARDS: Final = Guards(history=(AccountMapping,))
_DIGITS: Final = re.compile(r"[0-9]{1,7}")
_NUMBER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*", re.ASCII)


class CannotChange(Exception):
    """Nothing was saved; the text is the sentence for the person."""


@dataclass(frozen=True, slots=True)
class Target:
    """The account of the company's own chart that an account of the journal is posted to; empty where not set."""

    number: str = ""
    name: str = ""

    def __str__(self) -> str:
        return f"{self.number} {self.name}".strip()


@dataclass(frozen=True, slots=True)
class Chart:
    """One version of the mapping, 0 before the first; what is missing in `targets` and `settings` is not set."""

    version: int = 0
    targets: Mapping[str, Target] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    def of(self, key: str) -> Target:
        """The target of an account of the journal."""
        return self.targets.get(key, Target())

    def names(self, key: str) -> tuple[str, str]:
        """Its number and name."""
        target = self.of(key)
        return target.number, target.name

    def setting(self, name: str) -> str:
        """A setting, or its default."""
        return self.settings.get(name) or DEFAULTS.get(name, "")

    def facts(self) -> dict[str, str]:
        """Everything that is set, by the labels that people read."""
        accounts = {label: str(self.of(key)) for key, label in journal.ACCOUNTS.items()}
        settings = {label: self.settings.get(name, "") for name, label in SETTINGS.items()}
        return {label: text for label, text in (accounts | settings).items() if text}


@dataclass(frozen=True, slots=True)
class Change:
    """One version of the history: who made it when, and each entry as it was before and after."""

    row: AccountMapping
    entries: Sequence[tuple[str, str, str]]


def currencies() -> list[str]:
    """The currency that DATEV takes, once its numbers are set: its daily prices are read from then on."""
    return [DATEV_CURRENCY] if current().setting(CONSULTANT) else []


def may_change(person: "Person") -> bool:
    """Administrators for all accounts change the mapping, which is of all accounts."""
    return person.has_role(roles.ADMIN, scope="")


def current() -> Chart:
    """The newest version."""
    row = AccountMapping.objects.first()
    return Chart() if row is None else _read(row)


def history(*, most: int) -> Iterator[Change]:
    """The newest changes first, `most` of them at most."""
    rows = list(AccountMapping.objects.select_related("person")[: most + 1])
    for place, row in enumerate(rows[:most]):
        older = _read(rows[place + 1]) if place + 1 < len(rows) else Chart()
        yield Change(row, _entries(older, _read(row)))


def problems(chart: Chart) -> dict[tuple[str, str], str]:
    """What is wrong with each entry, by its kind (number, name or setting) and its key."""
    wrong: dict[tuple[str, str], str] = {}
    for key in journal.ACCOUNTS:
        target = chart.of(key)
        if target.name and not target.number:
            wrong["number", key] = "Enter a number, or remove the name."
        elif target.number and not _NUMBER.fullmatch(target.number):
            wrong["number", key] = "Use letters A to Z, digits, . and - only, with a letter or a digit first."
        elif len(target.number) > LONGEST_NUMBER:
            wrong["number", key] = f"Use {LONGEST_NUMBER} characters at most."
        if len(target.name) > LONGEST_NAME:
            wrong["name", key] = f"Use {LONGEST_NAME} characters at most."
    wrong |= {key: text for key, text in _facing(chart) if key not in wrong}
    wrong |= {("setting", name): text for name, text in _wrong_settings(chart)}
    return wrong


def change(chart: Chart, *, person: "Person", session_key: str, now: datetime) -> Chart:
    """Save the next version; `chart.version` is the one that the person changed. Raises CannotChange."""
    if not may_change(person):
        raise CannotChange("Not saved: only administrators for all accounts can change account numbers.")
    if wrong := problems(chart):
        raise CannotChange(f"Not saved: {next(iter(wrong.values()))}")
    with transaction.atomic():
        trail.take_turn()
        before = current()
        entries = _entries(before, chart)
        if before.version != chart.version:
            raise CannotChange(
                "Not saved: somebody else saved a change after you opened the page. "
                "Compare your entries with the history below, then save again."
            )
        if not entries:
            raise CannotChange("Not saved: you changed nothing.")
        row = AccountMapping.objects.create(
            version=before.version + 1, content=_text(chart), person=person, made_at=now
        )
        trail.record(
            actor=person,
            action="account_mapping.changed",
            subject=f"{AccountMapping.name}:{row.version}",
            before={label: old for label, old, _ in entries},
            after={label: new for label, _, new in entries} | {"entries": ", ".join(label for label, *_ in entries)},
            now=now,
            session_key=session_key,
        )
    return _read(row)


def _facing(chart: Chart) -> Iterator[tuple[tuple[str, str], str]]:
    """Accounts that are posted against each other and have one number: such a posting would move nothing."""
    for key, others in journal.FACING.items():
        for other in others:
            if chart.of(key).number and chart.of(key).number == chart.of(other).number:
                sentence = f"{journal.ACCOUNTS[key]} has the same number and is posted against it. Use another number."
                yield ("number", other), sentence


def _wrong_settings(chart: Chart) -> Iterator[tuple[str, str]]:
    for name, (least, most) in RANGES.items():
        text = chart.settings.get(name, "")
        if text and not (_DIGITS.fullmatch(text) and least <= int(text) <= most):
            yield name, f"Enter a whole number from {least} to {most}."
    for name in (TAX_RATE, TRACKING):
        if len(chart.settings.get(name, "")) > LONGEST_NAME:
            yield name, f"Use {LONGEST_NAME} characters at most."


def _entries(before: Chart, after: Chart) -> list[tuple[str, str, str]]:
    old, new = before.facts(), after.facts()
    labels = (*journal.ACCOUNTS.values(), *SETTINGS.values())
    return [
        (label, old.get(label, ""), new.get(label, "")) for label in labels if old.get(label, "") != new.get(label, "")
    ]


def _text(chart: Chart) -> str:
    content = {
        "accounts": {key: chart.names(key) for key in journal.ACCOUNTS if chart.of(key) != Target()},
        "settings": {name: text for name, text in chart.settings.items() if text},
    }
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def _read(row: AccountMapping) -> Chart:
    content = json.loads(row.content)
    targets = {key: Target(*names) for key, names in content["accounts"].items()}
    return Chart(row.version, targets, content["settings"])
