"""The URLs of the desk itself; rooms bring their own. The project mounts sign-in and account pages."""

from django.urls import path

from desk.views import action, channels, deliveries, health, incidents, lists, people, reports, restores, stepup

urlpatterns = [
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("csp-reports", reports.csp, name="csp-reports"),
    path("step-up/challenge", stepup.challenge, name="step_up_challenge"),
    path("action/", action.page(), name="action"),
    path("action/incidents/<int:incident_id>/", incidents.incident, name="incident"),
    path("action/incidents/<int:incident_id>/acknowledge/", incidents.acknowledge, name="incident-acknowledge"),
    path("action/incidents/<int:incident_id>/hand-back/", incidents.hand_back, name="incident-hand-back"),
    path("action/incidents/<int:incident_id>/close/", incidents.close, name="incident-close"),
    path("action/threads/<slug:name>/<int:number>/", action.thread, name="thread"),
    path("action/threads/<slug:name>/<int:number>/take/", action.take_on, name="thread-take"),
    path("people/", people.people, name="people"),
    path("people/invite/", people.invite, name="person-invite"),
    path("people/<int:person_id>/", people.person, name="person"),
    path("people/<int:person_id>/change/<slug:kind>/", people.change, name="person-change"),
    path("people/<int:person_id>/link/", people.invite_again, name="person-invite-again"),
    path("people/<int:person_id>/sessions/end/", people.end_session, name="person-session-end"),
    path("people/<int:person_id>/tokens/<int:token_id>/revoke/", people.revoke_token, name="person-token-revoke"),
    path("people/changes/<int:change_id>/confirm/", people.confirm, name="person-confirm"),
    path("people/changes/<int:change_id>/reject/", people.reject, name="person-reject"),
    *lists.urls(deliveries.DELIVERIES),
    path("deliveries/<int:delivery_id>/again/", deliveries.send_again, name="delivery-again"),
    path("lists/<slug:list_name>/keep/", lists.keep, name="list-keep"),
    path("lists/<slug:list_name>/saved/", lists.save, name="list-saved"),
    path("lists/<slug:list_name>/saved/<int:saved_id>/", lists.change, name="list-saved-change"),
    path("restores/<int:restore_id>/", restores.restore, name="restore"),
    path("mailbox/", deliveries.mailbox, name="mailbox"),
    path("channels/", channels.listed, name="channels"),
    path("channels/add/", channels.add, name="channel-add"),
    path("channels/<int:channel_id>/new-secret/", channels.change, {"action": channels.TURNED}, name="channel-turn"),
    path("channels/<int:channel_id>/remove/", channels.change, {"action": channels.ENDED}, name="channel-end"),
]
