"""Static files as a release has them: under names that change with their content, in imports too."""

import re
from pathlib import Path

from django.core.files.storage import FileSystemStorage

from desk.web.static_files import HashedFiles


def test_our_modules_import_each_other_by_the_names_of_this_release(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    ours, released = FileSystemStorage(settings.BASE_DIR / "static"), HashedFiles(tmp_path, "/static/")
    paths = {f"js/{path.name}": (ours, f"js/{path.name}") for path in Path(ours.location, "js").glob("*.js")}
    for name in paths:
        with ours.open(name) as file:
            released.save(name, file)
    hashed = {name: released.clean_name(to) for name, to, _ in released.post_process(paths) if name in paths and to}
    assert set(hashed) == set(paths)
    imported = set()
    for name in paths:
        imports = re.findall(r'import[^"\n]*"\./([^"]+)"', Path(tmp_path, released.stored_name(name)).read_text())
        assert len(imports) == Path(ours.path(name)).read_text().count('"./')
        imported |= set(imports)
    assert imported
    assert {f"js/{each}" for each in imported} <= {released.stored_name(name) for name in paths} - set(paths)
