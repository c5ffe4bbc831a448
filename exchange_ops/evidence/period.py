"""The evidence of a period as a ZIP file: the bundle of each payout that something happened to on its days.

The audit rows of those days, with one before and one after, are beside them: they show that no payout was left out.
"""

import io
import json
import zipfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import Max, Min

from desk.audit import trail
from desk.models import AuditEvent
from exchange_ops.evidence import audit_span, bundle, verifier
from exchange_ops.evidence.bundle import CannotExport
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import Period
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.proofs.material import Material

if TYPE_CHECKING:
    from desk.models import Person

FORM: Final = "countersign-evidence-period-1"
MOST_PAYOUTS: Final = 5_000
MOST_ON_A_PAGE: Final = 100
MOST_DAYS: Final = 366
_SUBJECT: Final = "withdrawal:"


@dataclass(frozen=True, slots=True)
class Contents:
    """What goes into a bundle: the payouts, and the audit rows by which they were chosen."""

    period: Period
    payouts: list[Withdrawal]
    span: audit_span.AuditSpan


def contents_of(period: Period, *, accounts: Collection[Account], reader: "Person | None") -> Contents:
    """The payouts of these accounts in the period, and the audit rows. Raises CannotExport where there are none."""
    if not 0 <= (period.last - period.first).days < MOST_DAYS:
        raise CannotExport(f"Nothing was exported: choose up to {MOST_DAYS} days.")
    rows = AuditEvent.objects.filter(at__gte=period.begins, at__lt=period.ends)
    ends = rows.aggregate(first=Min("seq"), last=Max("seq"))
    if ends["first"] is None:
        raise CannotExport("Nothing was exported: nothing was recorded on these days.")
    subjects = rows.filter(subject__startswith=_SUBJECT).order_by().values_list("subject", flat=True).distinct()
    numbers = [int(subject.removeprefix(_SUBJECT)) for subject in subjects]
    payouts = Withdrawal.objects.filter(pk__in=numbers, account__in=accounts).select_related("account").order_by("pk")
    if not payouts:
        raise CannotExport("Nothing was exported: no payout was requested, changed or paid on these days.")
    most, beyond = (MOST_PAYOUTS, "") if reader is None else (MOST_ON_A_PAGE, ", or use manage.py evidence")
    if len(payouts) > most:
        raise CannotExport(
            f"Nothing was exported: {len(payouts)} payouts, more than {most}. Choose fewer days{beyond}."
        )
    newest = AuditEvent.objects.aggregate(last=Max("seq"))["last"]
    first, last = max(ends["first"] - 1, 1), min(ends["last"] + 1, newest)
    own = tuple(row.subject for row in payouts)
    # Of the payouts of other accounts the bundle says nothing, also where the reader could read their rows.
    others = Account.objects.exclude(pk__in=[each.pk for each in accounts]).exists()
    return Contents(period, list(payouts), audit_span.AuditSpan(own, first, last, reader, _SUBJECT if others else ""))


def write(file: IO[bytes], contents: Contents, *, material: Callable[[Withdrawal], Material], now: datetime) -> str:
    """Write the bundle to an empty file; the SHA-256 of its manifest. Raises CannotExport.

    `material` gives what proves a payout on the chain.
    """
    moment = now.astimezone(UTC)
    listing: list[dict[str, Any]] = []
    with zipfile.ZipFile(file, "w") as archive:
        members = bundle.Members(archive, moment)
        for row in contents.payouts:
            inner = io.BytesIO()
            payout_bundle = bundle.write(
                inner, withdrawal_id=row.pk, reader=contents.span.reader, material=material(row), now=now
            )
            members.add(f"{row.reference}.zip", [inner.getvalue()], about=f"The evidence of {row.reference}.")
            listing.append(
                {
                    "reference": row.reference,
                    "subject": row.subject,
                    "account": row.account.name,
                    "manifest_sha256": payout_bundle.manifest_sha256,
                }
            )
        members.add("payouts.json", [_json(listing)], about="The payouts of the period, each with its bundle.")
        lines = (line.encode() for line in contents.span.lines())
        members.add("audit.jsonl", lines, about="The audit rows of the period, with the one before and the one after.")
        about = f"Verifies this bundle offline: python3 {verifier.NAME} BUNDLE.zip"
        members.add(verifier.NAME, [verifier.source().encode()], about=about)
        manifest = {
            "form": FORM,
            "made_at": moment.isoformat(timespec="seconds"),
            "period": _described(contents.period),
            "audit": contents.span.ends(),
        }
        return members.seal(manifest)


def record(
    contents: Contents, manifest_sha256: str, *, person: "Person | None", session_key: str, now: datetime
) -> None:
    """Record in the audit trail that the bundle leaves, with the SHA-256 by which it is recognised."""
    period = contents.period
    with transaction.atomic():
        trail.record(
            actor=person,
            action="payout_evidence.exported",
            subject="payout_evidence",
            before={},
            after={
                "days": f"{period.first} to {period.last}",
                "payouts": len(contents.payouts),
                "manifest_sha256": manifest_sha256,
            },
            now=now,
            session_key=session_key,
        )


def _described(period: Period) -> dict[str, str]:
    """The days and the moments, as the manifest names them."""
    return {
        "first": str(period.first),
        "last": str(period.last),
        "begins": period.begins.isoformat(),
        "ends": period.ends.isoformat(),
    }


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()
