"""Receives browsers' reports of what the content security policy blocked: counted and logged within limits.

Anybody can send anything here. So only the directive is counted, if it is a known one, and the log gets a few printable
characters of two addresses without their queries.
"""

import json
import threading
import time
from collections import deque
from typing import Any
from urllib.parse import urlsplit

import structlog
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from prometheus_client import Counter

MOST_BYTES = 16_384
MOST_REPORTS = 30
WINDOW_SECONDS = 60.0
_MOST_TOGETHER = 20
_LONGEST = 200
_TYPES = frozenset({"application/csp-report", "application/reports+json", "application/json"})
_DIRECTIVES = frozenset(
    f"{kind}-src{part}"
    for kind in ("default", "script", "style", "img", "font", "connect", "frame", "worker", "media", "manifest")
    for part in ("", "-elem", "-attr")
) | {"base-uri", "form-action", "frame-ancestors", "object-src", "require-trusted-types-for", "trusted-types"}

REPORTS = Counter(
    "countersign_csp_reports_total", "Violations of the content security policy, by directive", ["directive"]
)
_log = structlog.get_logger(__name__)
_arrivals: deque[float] = deque(maxlen=MOST_REPORTS)
_lock = threading.Lock()


@csrf_exempt
@login_not_required
@require_POST
def csp(request: HttpRequest) -> HttpResponse:
    """204 whatever a report says, and 400, 413 or 429 for what is no report; nothing of it is sent back."""
    if request.content_type not in _TYPES:
        return HttpResponse(status=400)
    if len(request.body) > MOST_BYTES:
        return HttpResponse(status=413)
    if not _has_room(time.monotonic()):
        REPORTS.labels("refused").inc()
        return HttpResponse(status=429)
    for report in _read(request.body):
        _note_report(report)
    return HttpResponse(status=204)


def _has_room(now: float) -> bool:
    """Whether this process takes one more within the window."""
    with _lock:
        if len(_arrivals) == MOST_REPORTS and _arrivals[0] > now - WINDOW_SECONDS:
            return False
        _arrivals.append(now)
        return True


def _read(body: bytes) -> list[dict[str, Any]]:
    """The reports of either form: one object of `report-uri`, or a list of `report-to`."""
    try:
        reports = json.loads(body)
    except (ValueError, RecursionError):
        return []
    members = [reports.get("csp-report")] if isinstance(reports, dict) else reports if isinstance(reports, list) else []
    bodies = [one.get("body", one) if isinstance(one, dict) else None for one in members[:_MOST_TOGETHER]]
    return [one for one in bodies if isinstance(one, dict)]


def _note_report(report: dict[str, Any]) -> None:
    named = [report.get(name) for name in ("effectiveDirective", "effective-directive", "violated-directive")]
    directive = next((one.split(" ")[0] for one in named if isinstance(one, str) and one), "")
    label = directive if directive in _DIRECTIVES else "other"
    REPORTS.labels(label).inc()
    blocked = report.get("blockedURL", report.get("blocked-uri"))
    page = report.get("documentURL", report.get("document-uri"))
    _log.warning("csp.violation", directive=label, blocked=_shortened(blocked), page=_shortened(page))


def _shortened(address: object) -> str:
    """An address without query and fragment, short and printable."""
    if not isinstance(address, str):
        return ""
    try:
        parts = urlsplit(address[:_LONGEST])
    except ValueError:
        return "unreadable"
    plain = f"{parts.scheme}://{parts.hostname or ''}{parts.path}" if parts.scheme and parts.hostname else parts.path
    return "".join(one if one.isprintable() else " " for one in plain)
