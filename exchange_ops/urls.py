"""Addresses of the pages about the exchange account."""

from django.urls import path

from desk.views import action
from exchange_ops.addresses import views as deposit
from exchange_ops.console import views as console
from exchange_ops.going_live import views as going_live
from exchange_ops.keys.views import changes as key_changes
from exchange_ops.keys.views import listing as keys
from exchange_ops.ledger.views import deposits, destinations
from exchange_ops.ledger.views import listing as ledger
from exchange_ops.market.views import listing as markets
from exchange_ops.market.views import steps as market_steps
from exchange_ops.orders.views import brackets, fills
from exchange_ops.orders.views import decisions as order_decisions
from exchange_ops.orders.views import detail as order
from exchange_ops.orders.views import listing as orders
from exchange_ops.orders.views import new as new_order
from exchange_ops.orders.views import replacing as replacing_order
from exchange_ops.pages import currency, frame, funds, policy, profit, search, system
from exchange_ops.pages.overview import views as overview
from exchange_ops.pages.trading import desk as trading
from exchange_ops.policy_changes import views as policy_changes
from exchange_ops.positions.views import actions as margin_action
from exchange_ops.positions.views import closing as margin_closing
from exchange_ops.positions.views import detail as margin_detail
from exchange_ops.positions.views import listing as margin
from exchange_ops.positions.views import new as margin_new
from exchange_ops.subaccounts.views import decisions as subaccount_decisions
from exchange_ops.subaccounts.views import detail as subaccount
from exchange_ops.subaccounts.views import listing as subaccounts
from exchange_ops.transfers.views import actions as transfer_actions
from exchange_ops.transfers.views import detail as transfer
from exchange_ops.transfers.views import listing as transfers
from exchange_ops.transfers.views import new as new_transfer
from exchange_ops.withdrawals.views import actions as withdrawal_actions
from exchange_ops.withdrawals.views import detail as withdrawal
from exchange_ops.withdrawals.views import listing as withdrawals
from exchange_ops.withdrawals.views import new as new_withdrawal

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("withdrawals/", withdrawals.withdrawals, name="withdrawals"),
    path("withdrawals/export.<slug:form>", withdrawals.export, name="withdrawals-export"),
    path("withdrawals/new/", new_withdrawal.new, name="withdrawal-new"),
    path("withdrawals/new/figures/", new_withdrawal.figures, name="withdrawal-figures"),
    path("withdrawals/new/destination/", new_withdrawal.destination, name="withdrawal-destination"),
    path("withdrawals/<int:withdrawal_id>/", withdrawal.withdrawal, name="withdrawal"),
    path("withdrawals/<int:withdrawal_id>/approve/", withdrawal_actions.approve, name="withdrawal-approve"),
    path("withdrawals/<int:withdrawal_id>/reject/", withdrawal_actions.reject, name="withdrawal-reject"),
    path("withdrawals/<int:withdrawal_id>/cancel/", withdrawal_actions.cancel, name="withdrawal-cancel"),
    path("withdrawals/<int:withdrawal_id>/recall/", withdrawal_actions.recall, name="withdrawal-recall"),
    path("withdrawals/<int:withdrawal_id>/resolve/", withdrawal_actions.resolve, name="withdrawal-resolve"),
    path("withdrawals/<int:withdrawal_id>/release/", withdrawal_actions.release, name="withdrawal-release"),
    path("approvals/", action.page("approvals"), name="approvals"),
    path("funds/", funds.funds, name="funds"),
    path("funds/<str:currency>/", currency.currency, name="funds-currency"),
    path("profit/", profit.profit, name="profit"),
    path("profit/export.csv", profit.export, name="profit-export"),
    path("funds/<slug:currency>/deposit/", deposit.deposit, name="deposit"),
    path("funds/<slug:currency>/deposit/read/", deposit.read, name="deposit-read"),
    path("funds/<slug:currency>/deposit/new/", deposit.new_address, name="deposit-new"),
    path("orders/", orders.orders, name="orders"),
    path("orders/export.<slug:form>", orders.export, name="orders-export"),
    path("orders/refresh/", orders.refresh, name="orders-refresh"),
    path("orders/cancel-all/", orders.cancel_all, name="orders-cancel-all"),
    path("orders/cancel-chosen/", orders.cancel_chosen, name="orders-cancel-chosen"),
    path("orders/fills/", fills.fills, name="fills"),
    path("orders/fills/export.<slug:form>", fills.export, name="fills-export"),
    path("orders/brackets/", brackets.brackets, name="brackets"),
    path("orders/brackets/export.<slug:form>", brackets.export, name="brackets-export"),
    path("orders/brackets/<int:bracket_id>/", brackets.bracket, name="bracket"),
    path("orders/brackets/<int:bracket_id>/end/", brackets.end, name="bracket-end"),
    path("orders/brackets/<int:bracket_id>/let-go/", brackets.let_go, name="bracket-let-go"),
    path("orders/brackets/<int:bracket_id>/stop/", brackets.place_stop, name="bracket-stop"),
    path("orders/new/", new_order.new, name="order-new"),
    path("orders/new/figures/", new_order.figures, name="order-figures"),
    path("orders/<int:order_id>/", order.order, name="order"),
    path("orders/<int:order_id>/cancel/", order.cancel, name="order-cancel"),
    path("orders/<int:order_id>/guard/", brackets.guard, name="order-guard"),
    path("orders/<int:order_id>/approve/", order_decisions.approve, name="order-approve"),
    path("orders/<int:order_id>/decline/", order_decisions.decline, name="order-decline"),
    path("orders/<int:order_id>/withdraw/", order_decisions.withdraw, name="order-withdraw"),
    path("orders/<int:order_id>/replace/", replacing_order.replace, name="order-replace"),
    path("margin/", margin.margin, name="margin"),
    path("margin/open/", margin_new.open_account, name="margin-open"),
    path("margin/close-all/", margin_closing.close_all, name="margin-close-all"),
    path("margin/figures/<slug:kind>/", margin_new.figures, name="margin-figures"),
    path("margin/actions/<int:margin_action_id>/", margin_action.action, name="margin-action"),
    path("margin/actions/<int:margin_action_id>/settle/", margin_action.settle, name="margin-action-settle"),
    path("margin/<str:symbol>/", margin_detail.symbol, name="margin-symbol"),
    path("margin/<str:symbol>/collateral/", margin_new.collateral, name="margin-collateral"),
    path("margin/<str:symbol>/close-position/", margin_new.close_position, name="margin-close-position"),
    path("margin/<str:symbol>/close-account/", margin_new.close_account, name="margin-close-account"),
    path("transfers/", transfers.transfers, name="transfers"),
    path("transfers/export.<slug:form>", transfers.export, name="transfers-export"),
    path("transfers/new/<slug:kind>/", new_transfer.new, name="transfer-new"),
    path("transfers/new/<slug:kind>/figures/", new_transfer.figures, name="transfer-figures"),
    path("transfers/<int:transfer_id>/", transfer.transfer, name="transfer"),
    path("transfers/<int:transfer_id>/approve/", transfer_actions.approve, name="transfer-approve"),
    path("transfers/<int:transfer_id>/reject/", transfer_actions.reject, name="transfer-reject"),
    path("transfers/<int:transfer_id>/cancel/", transfer_actions.cancel, name="transfer-cancel"),
    path("transfers/<int:transfer_id>/close/", transfer_actions.close, name="transfer-close"),
    path("transfers/<int:transfer_id>/reissue/", transfer_actions.reissue, name="transfer-reissue"),
    path("transfers/<int:transfer_id>/resolve/", transfer_actions.resolve, name="transfer-resolve"),
    path("ledger/", ledger.ledger, name="ledger"),
    path("ledger/export.<slug:form>", ledger.export, name="ledger-export"),
    path("deposits/", deposits.deposits, name="deposits"),
    path("deposits/export.<slug:form>", deposits.export, name="deposits-export"),
    path("addresses/", destinations.destinations, name="addresses"),
    path("addresses/export.<slug:form>", destinations.export, name="addresses-export"),
    path("keys/", keys.keys, name="keys"),
    path("keys/new/", key_changes.new, name="key-new"),
    path("keys/<int:key_id>/", keys.key, name="key"),
    path("keys/<int:key_id>/probe/", keys.probe, name="key-probe"),
    path("keys/<int:key_id>/rotate/", key_changes.rotate, name="key-rotate"),
    path("keys/<int:key_id>/switch/", key_changes.switch, name="key-switch"),
    path("keys/<int:key_id>/finish/", key_changes.finish, name="key-finish"),
    path("keys/<int:key_id>/go-back/", key_changes.go_back, name="key-go-back"),
    path("keys/<int:key_id>/disable/", key_changes.disable, name="key-disable"),
    path("markets/", markets.table, name="markets"),
    path("markets/find/", market_steps.find, name="markets-find"),
    path("markets/<str:symbol>/", trading.market, name="market"),
    path("markets/<str:symbol>/older/", market_steps.older, name="market-older"),
    path("markets/<str:symbol>/star/", market_steps.star, name="market-star"),
    path("going-live/", going_live.page, name="going-live"),
    path("going-live/test-mail/", going_live.test_mail, name="going-live-test-mail"),
    path("going-live/<slug:name>/confirm/", going_live.confirm, name="going-live-confirm"),
    path("policy/", policy.policy, name="policy"),
    path("policy/draft/", policy_changes.draft, name="policy-draft"),
    path("policy/changes/<int:change_id>/", policy_changes.change, name="policy-change"),
    path("policy/changes/<int:change_id>/agree/", policy_changes.agree, name="policy-change-agree"),
    path("policy/changes/<int:change_id>/end/", policy_changes.end, name="policy-change-end"),
    path("policy/versions/<int:number>/", policy_changes.version, name="policy-version"),
    path("policy/frozen/", policy.frozen_note, name="frozen-note"),
    path("policy/freeze/", policy.freeze, name="freeze"),
    path("policy/freezes/<int:freeze_id>/thaw/", policy.thaw, name="thaw"),
    path("subaccounts/", subaccounts.subaccounts, name="subaccounts"),
    path("subaccounts/read-again/", subaccounts.reread, name="subaccounts-reread"),
    path("subaccounts/freeze/", subaccount_decisions.freeze, name="subaccount-freeze"),
    path("subaccounts/activate/", subaccount_decisions.activate, name="subaccount-activate"),
    path("subaccounts/<int:exchange_id>/", subaccount.subaccount, name="subaccount"),
    path("subaccounts/<int:exchange_id>/settings/", subaccount.settings, name="subaccount-settings"),
    path("subaccounts/<int:exchange_id>/address/", subaccount.address, name="subaccount-address"),
    path(
        "subaccounts/<int:exchange_id>/actions/<int:action_id>/take-back/",
        subaccount.take_back,
        name="subaccount-take-back",
    ),
    path("console/", console.index, name="console"),
    path("console/history/", console.history, name="console-history"),
    path("console/<slug:service>/<slug:operation>/", console.operation, name="console-operation"),
    path("system/", system.system, name="system"),
    path("frame/", frame.frame, name="frame"),
    path("search/", search.find, name="search"),
    path("search/palette/", search.palette, name="palette"),
]
