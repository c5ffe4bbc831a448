from django.apps import AppConfig


class ExchangeOpsConfig(AppConfig):
    name = "exchange_ops"
