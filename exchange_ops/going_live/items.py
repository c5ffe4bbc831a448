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
        "TLS on the desk's host name",
        "TLS protects passwords and approvals, and passkeys are bound to the host name.",
        "Set up a TLS proxy with a certificate, and open this page at that host name. In /etc/countersign/env:",
        verdicts.tls,
        command="ALLOWED_HOSTS=desk.example.com\nDESK_URL=https://desk.example.com\nTRUSTED_PROXIES=127.0.0.1",
    ),
    Step(
        "secrets",
        "Secrets and key ring backed up",
        "Without the key ring, exchange keys can't be decrypted and approvals can't be verified.",
        "Copy both secret files to another machine, then confirm here.",
        verdicts.secrets,
        command="sudo cat /etc/countersign/secrets/secret-key /etc/countersign/secrets/key-ring",
        asks=confirmations.KEY_RING,
    ),
    Step(
        "rows",
        "Database and broker",
        "PostgreSQL supports several processes at once and can be backed up while the desk runs.",
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
        "Invitations, approval requests and incidents are sent by e-mail.",
        "Set the mail server in /etc/countersign/env, restart the desk, then send a test e-mail here:",
        verdicts.mail,
        command='EMAIL_URL=smtps://desk:PASSWORD@mail.example.com:465\nMAIL_FROM="Desk <desk@example.com>"',
    ),
    Step(
        "admin",
        "Two administrators",
        "Granting a role takes two administrators.",
        "Run the command once per administrator and hand over the link. Each administrator sets up an authenticator "
        "app and a passkey the "
        "same day.",
        verdicts.administrators,
        command=f"{MANAGE} create_admin NAME --email NAME@example.com",
    ),
    Step(
        "treasury",
        "Two treasurers with passkeys",
        "A one-time code can be phished; a passkey can't. With at least two treasurers, one can be away.",
        "Invite both; a second administrator confirms their roles. Each treasurer sets up an authenticator app and a "
        "passkey the same day.",
        verdicts.treasury,
        link=("Invite a person", "person-invite"),
    ),
    Step(
        "signature",
        "Trial signatures by two treasurers",
        "Proves that passkeys work on this site before a payout depends on them.",
        "Each treasurer opens this page and signs once. This also works in the first 24 hours "
        "after setting up a passkey.",
        verdicts.signatures,
    ),
    Step(
        "key",
        "Read-only key",
        "With a read-only key, the desk shows everything but can't pay. The withdrawal key comes later.",
        "Create the key on the exchange. The first key is added by command, which also creates the account:",
        verdicts.key,
        command=(
            f'{MANAGE} add_key --new-account --account "Main desk" --label Reader --login KEY --right payments '
            "--right history"
        ),
        link=("Add a key", "key-new"),
    ),
    Step(
        "places",
        "Exchange configured for each account",
        "An account can't be synced or make payouts until its exchange is in the settings.",
        "Add each further exchange in /etc/countersign/env and restart the desk:",
        verdicts.places,
        command='EXCHANGE_PLACES="second=https://… wss://…"',
    ),
    Step(
        "reconciliation",
        "Reconciliation balanced",
        "The exchange's balances match its ledger.",
        "Runs every hour. To run it now:",
        verdicts.reconciliation,
        command=f"{MANAGE} reconcile",
    ),
    Step(
        "probe",
        "Exchange behaviour verified",
        "Until we have verified what happens to an expired reservation, approval comes before reservation.",
        "Add the withdrawal key, then run both. The second leaves a reservation to expire and says when to run it "
        "again:",
        verdicts.probe,
        command=f"{MANAGE} probe_exchange\n{MANAGE} probe_exchange --leave-hold",
        link=("Add a key", "key-new"),
    ),
    Step(
        "policy",
        "Company policy published",
        "Until a policy is published, the default rules apply.",
        "A treasurer proposes the company's rules; a second person approves them.",
        verdicts.policy,
        link=("Propose a rule change", "policy-draft"),
    ),
    Step(
        "payout",
        "Minimum payout paid and verified",
        "Test the full process with a small amount first.",
        "An operator requests the minimum to one of your own addresses; treasury approves. Then verify it:",
        verdicts.payout,
        command=f"{MANAGE} verify_payout 1",
    ),
    Step(
        "audit",
        "Audit trail and records agree",
        "The check recounts every approval and lists records changed outside Countersign.",
        "Runs every day. To run it now:",
        verdicts.audit,
        command=f"{MANAGE} verify_audit --replay",
    ),
    Step(
        "backup",
        "Backup restored once",
        "Restore a backup once to prove it works.",
        "Restore a backup of this desk on another machine with an empty database and the same key "
        "ring, then confirm here.",
        verdicts.backup,
        command=f"{MANAGE} backup /var/backups/countersign/first\n{MANAGE} restore /var/backups/countersign/first",
        asks=confirmations.BACKUP,
    ),
)
