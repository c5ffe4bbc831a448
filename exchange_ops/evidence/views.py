"""The evidence of a payout, or of all payouts of a period, as a download; and a payout as known at a moment."""

import hashlib
from tempfile import SpooledTemporaryFile
from typing import Any, Final

from django.contrib import messages as notes
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from desk import clock, documents
from desk.as_known.moments import MomentForm
from desk.lists import exports
from desk.models import Person
from desk.people import trail_readers
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.evidence import bundle, paper, period
from exchange_ops.evidence.as_known import later, payout
from exchange_ops.shared import rules
from exchange_ops.shared.periods import PeriodForm
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import NOT_YOURS, requires
from exchange_ops.withdrawals import rules as withdrawal_rules
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.proofs import material, payouts, sentences
from exchange_ops.withdrawals.views import decisions, detail

AS_KNOWN: Final = "exchange_ops/withdrawal_as_known.html"
_IN_MEMORY: Final = 4_000_000  # bytes; a larger bundle is written to a file of the system


@require_safe
@requires(rules.may_see)
def download(request: DeskRequest, withdrawal_id: int) -> HttpResponseBase:
    """The bundle as a ZIP file; the export is recorded in the audit trail first."""
    row, now = get_object_or_404(Withdrawal, pk=withdrawal_id), clock.now()
    if not withdrawal_rules.may_export_evidence(request.user, row):
        raise PermissionDenied(NOT_YOURS)
    proof = material.stored(row, now=now)
    file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  (the answer closes it when it was sent)
    try:
        written = bundle.write(file, withdrawal_id=row.pk, reader=request.user, material=proof, now=now)
    except bundle.CannotExport as problem:
        file.close()
        notes.error(request, str(problem))
        return redirect("withdrawal", row.pk)
    bundle.record(row, written.facts, person=request.user, session_key=request.session.session_key or "", now=now)
    file.seek(0)
    response = FileResponse(file, content_type="application/zip")
    exports.as_file(response, f"evidence_{row.reference}_{now:%Y%m%dT%H%M%SZ}.zip")
    return response


@require_safe
@requires(rules.may_see)
def document(request: DeskRequest, withdrawal_id: int) -> HttpResponse:
    """The evidence as a PDF for people; the export is recorded in the audit trail first."""
    rows, now = Withdrawal.objects.select_related("account", "initiator"), clock.now()
    row = get_object_or_404(rows, pk=withdrawal_id)
    if not withdrawal_rules.may_export_evidence(request.user, row):
        raise PermissionDenied(NOT_YOURS)
    content = paper.as_pdf(row, now=now)
    facts = {"document_sha256": hashlib.sha256(content).hexdigest()}
    bundle.record(row, facts, person=request.user, session_key=request.session.session_key or "", now=now)
    response = HttpResponse(content, content_type=documents.CONTENT_TYPE)
    exports.as_file(response, f"evidence_{row.reference}_{now:%Y%m%dT%H%M%SZ}.pdf")
    return response


@require_safe
@requires(rules.may_see)
def download_period(request: DeskRequest) -> HttpResponseBase:
    """The bundles of all payouts of a period as one ZIP file; the export is recorded in the audit trail first."""
    now = clock.now()
    form = PeriodForm(request.GET, now=now)
    days = form.period()
    mine = [each for each in accounts.in_view(request) if withdrawal_rules.may_export_evidence_at(request.user, each)]
    if not mine:
        raise PermissionDenied(NOT_YOURS)
    file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  (the answer closes it when it was sent)
    try:
        if days is None:
            raise bundle.CannotExport(f"Nothing was exported. {' '.join(form.problems())}")
        contents = period.contents_of(days, accounts=mine, reader=request.user)
        digest = period.write(file, contents, material=lambda row: material.stored(row, now=now), now=now)
    except bundle.CannotExport as problem:
        file.close()
        notes.error(request, str(problem))
        return redirect(f"{reverse('statements')}?{days.query}" if days else "statements")
    period.record(contents, digest, person=request.user, session_key=request.session.session_key or "", now=now)
    file.seek(0)
    response = FileResponse(file, content_type="application/zip")
    exports.as_file(response, f"evidence_{days.first}_{days.last}_{now:%Y%m%dT%H%M%SZ}.zip")
    return response


@require_safe
@requires(rules.may_see)
def as_known(request: DeskRequest, withdrawal_id: int) -> HttpResponse:
    """A payout as the desk knew it at a moment; without one, the form that asks for it."""
    rows = Withdrawal.objects.select_related("account", "initiator", "decided_by")
    row, now = get_object_or_404(rows, pk=withdrawal_id), clock.now()
    form = MomentForm(request.GET, now=now)
    context: dict[str, Any] = {"payout": row, "form": form, "moment": form.moment()}
    if form.is_bound and not form.is_valid():
        return show(request, AS_KNOWN, context, status=422)
    if moment := form.moment():
        context |= _at_moment(payout.of(row, moment, reader=request.user), request.user)
    return show(request, AS_KNOWN, context)


def _at_moment(past: payout.KnownPayout | payout.NotRequested, person: Person) -> dict[str, Any]:
    if isinstance(past, payout.NotRequested):
        return {"requested_at": past.requested_at}
    row = past.row
    tally = approvals.tally(row, reviewed=past.reviewed, released=past.released)
    return {
        "known": past,
        "row": row,
        "destination": detail.destination_of(row),
        "files": past.files.then,
        "words": past.words.then,
        "progress": decisions.progress(row, tally, before=len(past.reviewed)) if row.digest else "",
        "waits_for": tally.waits_for if row.is_open and row.digest else "",
        "chain": sentences.chain_status(row, now=past.moment.at) if past.knows_the_chain else None,
        "on_chain": row.currency == payouts.COIN,
        "is_followed": True,  # how far the exchange had counted is not recorded
        "may_audit": trail_readers.may_read_about(person, row.subject),
        "later": later.of(past),
        "gaps": list(past.gaps()),
    }
