"""The page that imports payees from a CSV file: a preview of every line, then the same lines confirmed."""

from typing import Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.payees import importing, rules
from exchange_ops.payees.importing import Line
from exchange_ops.payees.views import ONLY
from exchange_ops.payees.workflow import CannotAdd
from exchange_ops.shared import csv_lines
from exchange_ops.shared.csv_lines import CannotRead
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires

CHANGED: Final = "Nothing was added: the list changed after this preview. Check the lines again, then confirm."


class ImportForm(forms.Form):
    """A file, or its lines as text."""

    file = forms.FileField(label="CSV file", required=False)
    text = forms.CharField(
        label="Lines",
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text="Paste the lines of the file here instead, or correct them and preview again.",
    )
    confirmed = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, object]:
        """The text of the file, if there is one, else what was typed."""
        cleaned = super().clean() or {}
        if file := cleaned.get("file"):
            try:
                # Of a file that is too large only as much is read as shows that it is.
                cleaned["text"] = csv_lines.decoded(file.read(csv_lines.MOST_BYTES + 1), name=file.name or "")
            except CannotRead as refusal:
                self.add_error("file", f"Nothing was imported. {refusal}")
        elif not (cleaned.get("text") or "").strip() and not self.errors:
            self.add_error("file", "Choose a CSV file, or paste its lines.")
        return cleaned


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_add, ONLY)
def new(request: DeskRequest) -> HttpResponse:
    """The form and, sent, the preview; what was confirmed as it was shown is added."""
    if request.method != "POST":
        return _render(request, ImportForm())
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _render(request, form, status=422)
    text, account = form.cleaned_data["text"], accounts.required(request)
    try:
        lines = importing.read(text, account=account)
    except CannotRead as refusal:
        return _render(
            request, ImportForm(initial={"text": text}), refusal=f"Nothing was imported. {refusal}", status=422
        )
    confirmed = form.cleaned_data["confirmed"]
    if not confirmed:
        return _render(request, ImportForm(initial={"text": text}), lines=lines)
    if confirmed != importing.content_of(lines):
        return _render(request, ImportForm(initial={"text": text}), lines=lines, refusal=CHANGED, status=409)
    return _add(request, text, lines)


def _add(request: DeskRequest, text: str, lines: list[Line]) -> HttpResponse:
    account, key = accounts.required(request), request.session.session_key or ""
    try:
        rows = importing.add(lines, person=request.user, account=account, now=clock.now(), session_key=key)
    except CannotAdd as refusal:
        return _render(request, ImportForm(initial={"text": text}), lines=lines, refusal=str(refusal), status=409)
    names = ", ".join(row.reference for row in rows)
    plural = "payee added" if len(rows) == 1 else "payees added"
    messages.success(request, f"{len(rows)} {plural}: {names}. Two treasurers must approve each.")
    return redirect("payees")


def _render(
    request: DeskRequest,
    form: ImportForm,
    *,
    lines: list[Line] | None = None,
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    good = [line for line in lines or [] if not line.problems]
    context = {
        "form": form,
        "text": str(form["text"].value() or ""),
        "lines": lines,
        "good": len(good),
        "bad": len(lines or []) - len(good),
        "shown": importing.content_of(good),
        "refusal": refusal,
        "columns": ", ".join(importing.COLUMNS.names),
        "most": csv_lines.MOST_LINES,
    }
    return show(request, "exchange_ops/payees_import.html", context, status=status)
