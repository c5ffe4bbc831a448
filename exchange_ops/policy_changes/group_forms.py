"""The forms of approval groups in a draft, and the field for what a tier or rule needs of them."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from django import forms
from django.db.models import Q

from desk.models import Person
from desk.people import roles
from exchange_ops.policy.groups import checking
from exchange_ops.policy.groups.needs import Group, Needs

MORE_ROWS: Final = 2
_NEED: Final = re.compile(r"(?:(\d{1,2})\s+(?:of\s+)?)?(\D.*|\d.*)", re.ASCII)
_LONGEST_NEEDS: Final = 400


class NeedsField(forms.CharField):
    """Needs as people type them: "1 of Board, 2 of Finance". A name alone is one approval."""

    def __init__(self) -> None:
        widget = forms.TextInput(attrs={"placeholder": "1 of Finance", "autocomplete": "off"})
        super().__init__(label="of groups", required=False, max_length=_LONGEST_NEEDS, widget=widget)

    def clean(self, value: Any) -> Needs:
        """The needs in the order of their names, which `canonical` compares with the groups of the page."""
        needs: dict[str, int] = {}
        for part in re.split("[,;]", str(super().clean(value))):
            text = " ".join(part.split())
            if not text:
                continue
            match = _NEED.fullmatch(text)
            count, name = (match[1], match[2]) if match else (None, text)
            if name in needs:
                raise forms.ValidationError(f"{name} is named twice. Enter one number for each group.")
            needs[name] = int(count or 1)
            if not needs[name]:
                raise forms.ValidationError("Require at least 1 approval of a group, or leave the group out.")
        return tuple(sorted(needs.items()))


def typed(needs: Needs) -> str:
    """Needs as people type them."""
    return ", ".join(f"{count} of {name}" for name, count in needs)


def canonical(needs: Needs, groups: Iterable[Group]) -> Needs:
    """The needs with the names of the groups as they are written there, whatever the case they were typed in."""
    names = {group.name.casefold(): group.name for group in groups}
    return tuple(sorted((names.get(name.casefold(), name), count) for name, count in needs))


class GroupForm(forms.Form):
    """One group: its name, and a box for each person; one without a name is no group."""

    name = forms.CharField(label="name", required=False, max_length=checking.LONGEST_NAME)

    def __init__(self, *arguments: Any, people: Sequence[tuple[int, str]], members: Collection[int], **named: Any):
        super().__init__(*arguments, **named)
        self.fields["name"].widget.attrs |= {"autocomplete": "off"}
        self._people = [number for number, _ in people]
        for number, label in people:
            self.fields[f"member-{number}"] = forms.BooleanField(label=label, required=False, initial=number in members)

    @property
    def boxes(self) -> list[forms.BoundField]:
        """The boxes of the people."""
        return [self[f"member-{number}"] for number in self._people]

    def clean(self) -> dict[str, Any]:
        """A group with members has a name."""
        cleaned: dict[str, Any] = self.cleaned_data
        if not cleaned.get("name") and "name" not in self.errors and self._members():
            self.add_error("name", "Enter a name, or untick everybody to remove the group.")
        return cleaned

    @property
    def group(self) -> Group | None:
        """The group; None for an empty row. Call it only when it is valid."""
        name = " ".join(self.cleaned_data["name"].split())
        return Group(name, tuple(sorted(self._members()))) if name else None

    def _members(self) -> list[int]:
        return [number for number in self._people if self.cleaned_data.get(f"member-{number}")]


class Groups:
    """The rows of the page: the groups in force, and some empty ones. People who can approve somewhere are offered, and
    whoever is a member now."""

    def __init__(self, data: Any, *, start: Sequence[Group]) -> None:
        members = {member for group in start for member in group.members}
        approve = Q(is_active=True, groups__name=roles.TREASURY)
        offered = Person.objects.filter(approve | Q(pk__in=members)).distinct().order_by("username")
        people = [(person.pk, _label(person)) for person in offered.prefetch_related("groups")]
        rows = [(group.name, group.members) for group in start] + [("", ())] * MORE_ROWS
        self.rows = [
            GroupForm(data, prefix=f"g{n}", initial={"name": name}, people=people, members=of)
            for n, (name, of) in enumerate(rows[: checking.MOST_GROUPS])
        ]

    def named(self) -> Iterator[tuple[str, forms.Form]]:
        """Every row with its name in a sentence."""
        return ((f"Approval group {n}", row) for n, row in enumerate(self.rows, 1))

    def groups(self) -> tuple[Group, ...]:
        """The groups of the page by name; call it only when all are valid."""
        return tuple(sorted((group for row in self.rows if (group := row.group) is not None), key=lambda one: one.name))


def _label(person: Person) -> str:
    if not person.is_active:
        return f"{person.username} (deactivated)"
    can_approve = any(group.name == roles.TREASURY for group in person.groups.all())
    return person.username if can_approve else f"{person.username} (can't approve)"
