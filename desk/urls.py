"""Addresses of the desk itself; rooms bring their own. Sign-in and account pages are mounted by the project."""

from django.urls import path

from desk.views import health, reports, stepup

urlpatterns = [
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("csp-reports", reports.csp, name="csp-reports"),
    path("step-up/challenge", stepup.challenge, name="step_up_challenge"),
]
