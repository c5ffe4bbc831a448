"""Addresses of the pages of this room."""

from django.urls import path

from exchange_ops.policy_changes import views

urlpatterns = [
    path("policy/draft/", views.draft, name="policy-draft"),
    path("policy/changes/<int:change_id>/", views.change, name="policy-change"),
    path("policy/changes/<int:change_id>/agree/", views.agree, name="policy-change-agree"),
    path("policy/changes/<int:change_id>/end/", views.withdraw_or_reject, name="policy-change-end"),
    path("policy/versions/<int:number>/", views.version, name="policy-version"),
    path("policy/as-known/", views.as_known, name="policy-as-known"),
]
