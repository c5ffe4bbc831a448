"""The words for the events of the desk's own rooms: people, tokens, comments, channels, restores."""

from typing import Final

from desk.audit.words import THREAD, Words, people

_KINDS: Final = {
    "roles": "change roles",
    "factors": "reset second factors",
    "access": "reset password and second factors",
    "reactivate": "reactivate",
    "deactivate": "deactivate",
}
PERSON: Final = Words(
    name="person",
    title="People and sign-in",
    noun="",
    naming=people,
    decisions=("colleague_confirmed",),
    sentences={
        "created": "{who} created the administrator {it}.",
        "invited": "{who} created an invitation link for {it}.",
        "invited_again": "{who} reset the password and second factors for {it} and sent a new invitation.",
        "invitation_used": "{who} set a password with an invitation link.",
        "colleague_confirmed": "{who} confirmed {it} as a colleague in treasury.",
        "deactivated": "{who} deactivated {it}.",
        "roles_ended": "{who} ended the temporary roles of {it}.",
        "signed_in": "{who} signed in.",
        "signed_out": "{who} signed out.",
        "network_refused": "{who} refused {it}: a role of theirs can't be used from that network.",
        "session_ended": "{who} ended a session of {it}.",
        "factor_change_confirmed": "{who} confirmed a change to their second factors.",
        "factor_added": "{who} added a second factor for {it}: {factor}.",
        "factor_removed": "{who} removed a second factor from {it}: {factor}.",
        "factor_renewed": "{who} replaced a second factor for {it}: {factor}.",
        "company_account_connected": "{who} connected the company account {account} to sign in with.",
        "company_account_disconnected": "{who} disconnected the company account {account}.",
    },
)
CHANGE: Final = Words(
    name="change",
    title="User changes",
    noun="change",
    mark="P-",
    first=("requested",),
    content=lambda facts: _KINDS.get(str(facts.get("kind")), ""),
    decisions=("confirmed", "applied_alone", "rejected"),
    sentences={
        "requested": "{who} requested {it}.",
        "confirmed": "{who} confirmed {it}; it has taken effect.",
        "applied_alone": "{who} applied {it} without a second administrator.",
        "rejected": "{who} rejected {it}.",
        "withdrawn": "{who} withdrew {it}.",
        "expired": "{who} marked {it} as expired.",
    },
)
TOKEN: Final = Words(
    name="token",
    title="API tokens",
    noun="API token no.",
    first=("created",),
    content=lambda facts: str(facts.get("name", "")),
    sentences={"created": "{who} created {it}.", "revoked": "{who} revoked {it}."},
)
COMMENT: Final = Words(
    name=THREAD,
    title="Comments, files and assignments",
    noun="",
    sentences={
        "commented": "{who} commented on {it}.",
        "attached": "{who} attached a file to {it}.",
        "taken": "{who} assigned {it} to themselves.",
        "put_back": "{who} unassigned themselves from {it}.",
    },
)
CHANNEL: Final = Words(
    name="channel",
    title="Channels",
    noun="channel no.",
    first=("added",),
    content=lambda facts: f"{facts.get('name', '')}, {facts.get('kind', '')}".strip(", "),
    sentences={
        "added": "{who} added {it}.",
        "turned": "{who} created a new secret for {it}.",
        "ended": "{who} removed {it}.",
    },
)
DELIVERY: Final = Words(
    name="delivery",
    title="Messages",
    noun="message",
    mark="D-",
    sentences={"sent_again": "{who} sent {it} again by {medium}."},
)
RESTORE: Final = Words(
    name="restore",
    title="Restores",
    noun="restore",
    mark="RS-",
    decisions=("words_given", "settled"),
    sentences={
        "noticed": "{who} detected {it}: the database was restored to an earlier state.",
        "noticed_again": "{who} detected another restore to an earlier state during {it}.",
        "words_given": "{who} decided on the pending requests after {it}.",
        "settled": "{who} settled {it}.",
    },
)
WORDS: Final = (PERSON, CHANGE, TOKEN, COMMENT, CHANNEL, DELIVERY, RESTORE)
