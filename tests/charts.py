"""The chart of a market in a browser: where the line of an own order is."""

from typing import Any

from playwright.sync_api import expect


def grasp_line(page: Any) -> tuple[float, float]:
    """Move the mouse down the chart until it is on the line of an own order; where that is, in the window."""
    page.locator("#chart").scroll_into_view_if_needed()
    box = page.locator("#chart").bounding_box()
    across = box["x"] + box["width"] / 3
    for down in range(20, int(box["height"]) - 20, 4):
        page.mouse.move(across, box["y"] + down)
        if page.locator("#chart.on-line").count():
            break
    expect(page.locator("#chart.on-line")).to_have_count(1)
    return across, box["y"] + down
