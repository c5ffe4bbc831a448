"""Every address of the house. Sign-up, mail and password recovery of the sign-in library are left out on purpose."""

from allauth.account import views as account
from allauth.mfa.base import views as second_factor
from allauth.mfa.recovery_codes import views as recovery
from allauth.mfa.totp import views as app
from allauth.mfa.webauthn import views as passkeys
from django.urls import include, path
from django.views.decorators.http import require_http_methods, require_safe

from desk.personal import choices
from desk.single_sign_on import views as single_sign_on
from desk.views import factors, invitations, lists, notifications, personal, sessions, tokens, trail
from desk.web import tours
from exchange_ops.market import valuation
from exchange_ops.pages import tours as exchange_tours

handler400 = "desk.web.errors.bad_request"
handler403 = "desk.web.errors.permission_denied"
handler404 = "desk.web.errors.page_not_found"
handler500 = "desk.web.errors.server_error"

# The library's pages take a PUT for a form, and send whoever is in already elsewhere whatever the method.
form = require_http_methods(["GET", "HEAD", "POST"])

for _role, _steps in exchange_tours.TOURS.items():
    tours.offer(_role, _steps)
choices.offer_quotes(valuation.quotes)

urlpatterns = [
    path("", include("desk.urls")),
    path("", include("exchange_ops.urls")),
    path("", include("chaindata.urls")),
    *lists.urls(trail.TRAIL),
    path("api/v1/", include("exchange_ops.api_urls")),
    path("api/v1/chain/", include("chaindata.api.urls")),
    path("sign-in/", form(account.login), name="account_login"),
    path("sign-in/second-factor/", form(second_factor.authenticate), name="mfa_authenticate"),
    path("sign-in/not-active/", form(account.account_inactive), name="account_inactive"),
    path("sign-in/company/", single_sign_on.begin, name="company-sign-in"),
    path("sign-in/company/callback/", single_sign_on.callback, name="company-callback"),
    path("account/company/", single_sign_on.own, name="company-account"),
    path("account/company/connect/", single_sign_on.connect, name="company-connect"),
    path("account/company/disconnect/", single_sign_on.disconnect, name="company-disconnect"),
    path("sign-out/", form(account.logout), name="account_logout"),
    path("account/confirm/", form(account.reauthenticate), name="account_reauthenticate"),
    path("account/confirm/second-factor/", form(second_factor.reauthenticate), name="mfa_reauthenticate"),
    path("account/begin/", invitations.begin, name="begin"),
    path("account/password/", form(account.password_change), name="account_change_password"),
    path("account/notifications/", notifications.own, name="notifications"),
    path("account/settings/", personal.own, name="personal-settings"),
    path("account/tour/", personal.tour, name="tour"),
    path("account/tokens/", tokens.own, name="tokens"),
    path("account/tokens/<int:token_id>/revoke/", tokens.revoke, name="token-revoke"),
    path("account/sessions/", sessions.sessions, name="sessions"),
    path("account/sessions/end/", sessions.end_session, name="session-end"),
    path("account/second-factor/", require_safe(factors.Index.as_view()), name="mfa_index"),
    path("account/second-factor/confirm/<slug:change>/<int:target>/", factors.confirm, name="factor-confirm"),
    # Every page that changes a factor stands behind its confirmation; a page of the library that is not here is absent.
    *(
        path(f"account/second-factor/{place}", form(view), name=name)
        for place, view, name in (
            ("app/activate/", factors.guarded("set-up-app", factors.SetUpApp.as_view()), "mfa_activate_totp"),
            ("app/deactivate/", factors.guarded("remove-app", app.deactivate_totp), "mfa_deactivate_totp"),
            ("recovery-codes/", recovery.view_recovery_codes, "mfa_view_recovery_codes"),
            (
                "recovery-codes/generate/",
                factors.guarded("new-recovery-codes", recovery.generate_recovery_codes),
                "mfa_generate_recovery_codes",
            ),
            ("recovery-codes/download/", recovery.download_recovery_codes, "mfa_download_recovery_codes"),
            ("passkeys/", passkeys.list_webauthn, "mfa_list_webauthn"),
            ("passkeys/add/", factors.guarded("add-passkey", passkeys.add_webauthn), "mfa_add_webauthn"),
            (
                "passkeys/keys/<int:pk>/remove/",
                factors.guarded("remove-passkey", passkeys.remove_webauthn),
                "mfa_remove_webauthn",
            ),
            ("passkeys/keys/<int:pk>/edit/", passkeys.edit_webauthn, "mfa_edit_webauthn"),
            ("passkeys/reauthenticate/", passkeys.reauthenticate_webauthn, "mfa_reauthenticate_webauthn"),
            ("passkeys/login/", passkeys.login_webauthn, "mfa_login_webauthn"),
        )
    ),
]
