"""Static files under names that change with their content, so that a browser may keep each for good.

Modules import each other by such names too: `./page.js` in a script becomes the name that this release's page.js has.
An import map would say the same, but a browser takes it only inside of a page, and nothing is written inline here.
"""

from servestatic.storage import CompressedManifestStaticFilesStorage

OUR_SCRIPTS = "js/*.js"
# What Django would rewrite in every script; libraries come as they are, and theirs looks for files that are not there.
_, _IMPORTS = CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns


class HashedFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # the library is not typed
    """Compressed and hashed, with the imports of our own modules."""

    patterns = (*CompressedManifestStaticFilesStorage.patterns, (OUR_SCRIPTS, _IMPORTS))
