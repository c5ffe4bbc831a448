def configure(config: dict[str, object]) -> None:
    return
