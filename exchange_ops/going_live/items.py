"""What has to hold before a company pays through the desk, in the order in which docs/running.md goes through it.

Number and title of an item are those of the section there, and so are its commands.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from django.urls import reverse

from exchange_ops.going_live import confirmations, verdicts
from exchange_ops.going_live.verdicts import Verdict, Visit

# Typed in the desk's shell, as docs/running.md says.
MANAGE: Final = ".venv/bin/python manage.py"


@dataclass(frozen=True, slots=True)
class Step:
    """One item as it is written down: why it matters, what a person does, by which command or on which page.

    `link` is the text of a button and the name of its page, and `asks` the confirmation that a person gives.
    """

    name: str
    title: str
    why: str
    task: str
    look: Callable[[Visit], Verdict]
    command: str = ""
    link: tuple[str, str] | None = None
    asks: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """A step with its number, and whether it holds."""

    number: int
    step: Step
    verdict: Verdict

    @property
    def link(self) -> tuple[str, str] | None:
        """The text and the address of the step's button."""
        return (self.step.link[0], reverse(self.step.link[1])) if self.step.link else None


def all_items(visit: Visit) -> list[Item]:
    """Every item, in the order in which a company completes them."""
    return [Item(number, step, step.look(visit)) for number, step in enumerate(STEPS, 1)]


STEPS: Final = (
    Step(
        "tls",
        "TLS on the desk's own domain",
        "It protects passwords and decisions, and passkeys are bound to the domain.",
        "Put a TLS proxy in front and open this page on that domain. In /etc/countersign/env:",
        verdicts.tls,
        command="ALLOWED_HOSTS=desk.example.com\nDESK_URL=https://desk.example.com\nTRUSTED_PROXIES=127.0.0.1",
    ),
    Step(
        "secrets",
        "Secrets and key ring backed up",
        "Without the key ring, exchange keys can't be decrypted and approvals can't be verified.",
        "Copy both files off this machine, then confirm it here.",
        verdicts.secrets,
        command="sudo cat /etc/countersign/secrets/secret-key /etc/countersign/secrets/key-ring",
        asks=confirmations.KEY_RING,
    ),
    Step(
        "rows",
        "Database and broker",
        "PostgreSQL serves several processes at once and can be backed up while they work.",
        "Set both in /etc/countersign/env, then prepare the database:",
        verdicts.rows,
        command=(
            "DATABASE_URL=postgres://desk@%2Fvar%2Frun%2Fpostgresql/desk\nREDIS_URL=redis://127.0.0.1:6379/0\n"
            f"{MANAGE} prepare"
        ),
    ),
    Step(
        "mail",
        "E-mail delivered",
        "Invitations, approval requests and incidents are sent by mail.",
        "Set the mail server in /etc/countersign/env, restart the desk, then send a test mail here:",
        verdicts.mail,
        command='EMAIL_URL=smtps://desk:PASSWORD@mail.example.com:465\nMAIL_FROM="Desk <desk@example.com>"',
    ),
    Step(
        "admin",
        "Two administrators",
        "Every role needs two administrators, so one alone can't invite anyone.",
        "Run it once for each of two people and give each the link. Each sets up an app and a passkey in one session.",
        verdicts.administrators,
        command=f"{MANAGE} create_admin NAME --email NAME@example.com",
    ),
    Step(
        "treasury",
        "Two treasurers with passkeys",
        "A code can be phished; a passkey works only on this desk. Two, so that one can be absent.",
        "Invite them; another administrator confirms their roles. Each sets up an app and a passkey in one session.",
        verdicts.treasury,
        link=("Invite a person", "person-invite"),
    ),
    Step(
        "signature",
        "Trial signatures of two treasurers",
        "It proves that a passkey can approve at this address before a payout depends on it.",
        "Each treasurer opens this page and signs once. This also works in the first 24 hours.",
        verdicts.signatures,
    ),
    Step(
        "key",
        "A read-only key",
        "The desk shows everything and can't pay. The payout key comes later.",
        "Create the key at the exchange. The first key is added by command and creates the account:",
        verdicts.key,
        command=(
            f'{MANAGE} add_key --new-account --account "Main desk" --label Reader --login KEY --right payments '
            "--right history"
        ),
        link=("Add a key", "key-new"),
    ),
    Step(
        "places",
        "Every account's exchange is configured",
        "An account whose exchange is not configured is neither read nor paid from.",
        "Add every further exchange to /etc/countersign/env and restart the desk:",
        verdicts.places,
        command='EXCHANGE_PLACES="second=https://… wss://…"',
    ),
    Step(
        "reconciliation",
        "Reconciliation balanced",
        "The exchange's balances equal the sum of its ledger.",
        "It runs every hour; run it now with:",
        verdicts.reconciliation,
        command=f"{MANAGE} reconcile",
    ),
    Step(
        "probe",
        "Exchange behaviour verified",
        "Until the end of an expired reservation is verified, approvals come before funds are reserved.",
        "Add the payout key, then run both:",
        verdicts.probe,
        command=f"{MANAGE} probe_exchange\n{MANAGE} probe_exchange --leave-hold",
        link=("Add a key", "key-new"),
    ),
    Step(
        "policy",
        "Company rules published",
        "Default rules are still active until then.",
        "A treasurer proposes the company's rules, another one approves them.",
        verdicts.policy,
        link=("Propose a rule change", "policy-draft"),
    ),
    Step(
        "payout",
        "Smallest payout paid and proven",
        "One small payout goes through the whole process before larger ones do.",
        "An operator requests the minimum to an address of your own; treasury approves. Then verify it:",
        verdicts.payout,
        command=f"{MANAGE} verify_payout 1",
    ),
    Step(
        "audit",
        "Audit trail and records agree",
        "The check recounts every approval and lists each row changed outside the desk.",
        "It runs every day; run it now with:",
        verdicts.audit,
        command=f"{MANAGE} verify_audit --replay",
    ),
    Step(
        "backup",
        "Backup restored once",
        "Restore a backup once to prove it works.",
        "Back up here, restore on another machine with an empty database and the same key ring, then confirm it.",
        verdicts.backup,
        command=f"{MANAGE} backup /var/backups/countersign/first\n{MANAGE} restore /var/backups/countersign/first",
        asks=confirmations.BACKUP,
    ),
)
