"""What a person keeps of a list: columns, page size, and filters by name. Each has their own, and sees no others."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.http import QueryDict

from desk.lists.declared import SIZES, List
from desk.lists.models import LONGEST_NAME, LONGEST_QUERY, ListChoice, SavedFilter

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from desk.models import Person

MOST_SAVED: Final = 50
PLACE_NAMES: Final = ("before", "after", "totals", "saved")


class CannotKeep(ValueError):
    """What was to be kept is not; the sentence says why, and that nothing was changed."""


def choice(person: "Person", declared: List) -> ListChoice:
    """What this person chose for the list, or what everybody begins with."""
    row = ListChoice.objects.filter(person=person, list_name=declared.name).first()
    return row or ListChoice(person=person, list_name=declared.name)


def saved(person: "Person", declared: List) -> list[SavedFilter]:
    """The filters that this person kept, by name."""
    return list(SavedFilter.objects.filter(person=person, list_name=declared.name).order_by("name"))


def keep(person: "Person", declared: List, *, columns: Sequence[str], size: str) -> None:
    """Keep columns and page size. Raises CannotKeep for a column or a size that there is not."""
    if unknown := [name for name in columns if name not in declared.names]:
        raise CannotKeep(f"Not saved: this list has no column “{unknown[0][:40]}”.")
    if size not in {str(one) for one in SIZES}:
        raise CannotKeep(f"Not saved: rows per page must be one of {', '.join(str(one) for one in SIZES)}.")
    columns = [] if not columns else [name for name in declared.names if name in columns]
    if columns == [one.name for one in declared.chosen_columns([])]:
        columns = []
    ListChoice.objects.update_or_create(
        person=person, list_name=declared.name, defaults={"columns": columns, "size": int(size)}
    )


def save(person: "Person", declared: List, *, name: str, query: str) -> SavedFilter:
    """Keep what an address filters and sorts by under a name. Raises CannotKeep."""
    name, query = _checked_name(name), bare_query(query)
    if not query:
        raise CannotKeep("Nothing to save: filter or sort the list first.")
    if len(query) > LONGEST_QUERY:
        raise CannotKeep(f"These filters are too long to save. The limit is {LONGEST_QUERY:,} characters.")
    with transaction.atomic():
        mine = _of(person, declared)
        if mine.count() >= MOST_SAVED:
            raise CannotKeep(f"You have {MOST_SAVED} saved filters for this list, the maximum. Delete one first.")
        row, is_new = SavedFilter.objects.get_or_create(
            person=person, list_name=declared.name, name=name, defaults={"query": query}
        )
    if not is_new:
        raise CannotKeep(
            "You already have a saved filter with this name. Choose another name, or delete that filter first."
        )
    return row


def rename(row: SavedFilter, *, name: str) -> None:
    """Give a saved filter another name. Raises CannotKeep."""
    name = _checked_name(name)
    twins = SavedFilter.objects.filter(person_id=row.person_id, list_name=row.list_name, name=name)
    if twins.exclude(pk=row.pk).exists():
        raise CannotKeep("You already have a saved filter with this name. Choose another name.")
    row.name = name
    row.save(update_fields=["name"])


@transaction.atomic
def set_default(row: SavedFilter, *, is_default: bool) -> None:
    """Have the list open with this filter, or with none."""
    SavedFilter.objects.filter(person_id=row.person_id, list_name=row.list_name).update(is_default=False)
    if is_default:
        row.is_default = True
        row.save(update_fields=["is_default"])


def opening(person: "Person", declared: List) -> str:
    """The query that the list opens with for this person, or nothing."""
    row = _of(person, declared).filter(is_default=True).first()
    return row.query if row else ""


def bare_query(text: str) -> str:
    """A query string without its place in the list and without what is empty."""
    query = QueryDict(text.lstrip("?"), mutable=True)
    for name in list(query):
        if name in PLACE_NAMES or not query[name]:
            del query[name]
    return query.urlencode()


def _of(person: "Person", declared: List) -> "QuerySet[SavedFilter]":
    return SavedFilter.objects.filter(person=person, list_name=declared.name)


def _checked_name(text: str) -> str:
    name = " ".join(text.split())
    if not name or "\0" in name:
        raise CannotKeep("Enter a name for the filter.")
    if len(name) > LONGEST_NAME:
        raise CannotKeep(f"Names can be up to {LONGEST_NAME} characters; this one is {len(name):,}.")
    return name
