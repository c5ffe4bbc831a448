"""The modules of the Python package that follow from the description of the interface."""

from pathlib import Path
from typing import Any, cast

from django.conf import settings
from drf_spectacular.generators import SchemaGenerator

from project.clients import operations, shapes

FOLDER = Path(settings.BASE_DIR) / "clients" / "python" / "countersign_client"


def description() -> dict[str, Any]:
    """The interface as /api/v1/schema/ describes it."""
    generator = cast(Any, SchemaGenerator)()
    schema: dict[str, Any] = generator.get_schema(request=None, public=True)
    return schema


def modules() -> dict[Path, str]:
    """Each file that is written, and what belongs in it. Raises `shapes.CannotGenerate`."""
    schema = description()
    schemas = schema["components"]["schemas"]
    return {
        FOLDER / "shapes.py": shapes.module(schemas),
        FOLDER / "operations.py": operations.module(schema["paths"], schemas),
    }
