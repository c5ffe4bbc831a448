"""What this room declares to the desk."""

from typing import TYPE_CHECKING, Final

from desk.actions import approvals, attachments, threads
from desk.actions.incident_source import SOURCE
from desk.actions.models import Attachment, Comment, StoredFile
from desk.machines import decisions
from desk.machines.guards import Guards
from desk.people import roles
from desk.rows import witnessed

if TYPE_CHECKING:
    from desk.models import Person

GUARDS: Final = Guards(history=(Comment, Attachment, StoredFile))
REPLAYS: Final = {threads.SUBJECT: attachments.replay}
SOURCES: Final = (SOURCE,)
APPROVALS: Final = (approvals.SOURCE,)


def _may_follow(person: "Person", key: str) -> bool:
    return not key and person.has_role(*roles.ALL)


TOPICS: Final = {threads.TOPIC: _may_follow, decisions.TOPIC: _may_follow}


def register() -> None:
    """Declare the tables; called once at the start."""
    witnessed.register(Comment)
    witnessed.register(Attachment)
    witnessed.decides_nothing(
        {
            "desk.taken": "shows colleagues who is handling an item; not binding",
            "desk.storedfile": "each reading compares the content with the SHA-256 in the witnessed attachment",
        }
    )
