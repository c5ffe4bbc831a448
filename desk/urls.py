"""Addresses of the desk itself; rooms bring their own. Sign-in and account pages are mounted by the project."""

from django.urls import path

from desk.views import action, health, incidents, reports, stepup

urlpatterns = [
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("csp-reports", reports.csp, name="csp-reports"),
    path("step-up/challenge", stepup.challenge, name="step_up_challenge"),
    path("action/", action.page(), name="action"),
    path("action/count/", action.count, name="action-count"),
    path("action/bar/", action.bar, name="action-bar"),
    path("action/incidents/<int:incident_id>/", incidents.incident, name="incident"),
    path("action/incidents/<int:incident_id>/acknowledge/", incidents.acknowledge, name="incident-acknowledge"),
    path("action/incidents/<int:incident_id>/hand-back/", incidents.hand_back, name="incident-hand-back"),
    path("action/incidents/<int:incident_id>/close/", incidents.close, name="incident-close"),
    path("action/threads/<slug:name>/<int:number>/", action.thread, name="thread"),
    path("action/threads/<slug:name>/<int:number>/take/", action.take, name="thread-take"),
]
