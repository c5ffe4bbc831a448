"""Addresses of the pages of this room."""

from django.urls import path

from exchange_ops.policy_changes import views as policy_changes

urlpatterns = [
    path("policy/draft/", policy_changes.draft, name="policy-draft"),
    path("policy/changes/<int:change_id>/", policy_changes.change, name="policy-change"),
    path("policy/changes/<int:change_id>/agree/", policy_changes.agree, name="policy-change-agree"),
    path("policy/changes/<int:change_id>/end/", policy_changes.end, name="policy-change-end"),
    path("policy/versions/<int:number>/", policy_changes.version, name="policy-version"),
]
