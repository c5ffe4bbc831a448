"""Which of people's words count: a row is no evidence, the second factor that it names has to prove it.

That second factor is of this very person, for this purpose and one of these digests, given in the moment of the word,
genuine (`stepup.proves`), and spent on one word alone. A word that was given while its person rested after a change of
factors never counts.
"""

from collections.abc import Callable, Collection
from typing import Any

from django.db.models import Min, QuerySet

from desk.people import factors, stepup

DigestsOf = Callable[[Any], Collection[str]]


def among(words: QuerySet[Any], *, purpose: str, digests: DigestsOf | None = None) -> QuerySet[Any]:
    """Of these words (approvals, verdicts, votes) the ones that their second factors prove.

    `digests` gives what may have been signed for a word; without it, that is the word's own digest.
    """
    rows = list(words.exclude(factors.given_at_rest()).select_related("confirmation"))
    first = _first_uses(words.model, [row.confirmation_id for row in rows if row.confirmation_id])
    kept = [
        row.pk
        for row in rows
        if first.get(row.confirmation_id) == row.pk
        and row.confirmation.at == row.at
        and stepup.proves(
            row.confirmation,
            person_id=row.person_id,
            purpose=purpose,
            digests=digests(row) if digests else {row.digest},
        )
    ]
    return words.filter(pk__in=kept)


def people(words: QuerySet[Any]) -> int:
    """How many different people these words are of."""
    return words.order_by().values("person").distinct().count()


def _first_uses(model: type[Any], confirmations: list[int]) -> dict[int, int]:
    """The oldest word of each second factor: one is spent on one word, whatever else names it."""
    uses = model._default_manager.filter(confirmation__in=confirmations).order_by().values_list("confirmation")
    return dict(uses.annotate(first=Min("pk")))
