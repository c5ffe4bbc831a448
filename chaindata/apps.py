from django.apps import AppConfig


class ChaindataConfig(AppConfig):
    name = "chaindata"
