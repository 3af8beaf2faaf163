# SPDX-License-Identifier: Apache-2.0
"""The plotting library: Vega-Lite, as vl-convert-python carries it. Imported only when something is drawn; the rest of the report knows specifications alone."""
from __future__ import annotations

import functools
from typing import Any

from .charts import Spec

MISSING = "warren.report draws with vl-convert-python, which is not installed: pip install 'vl-convert-python>=1.9'"
IMAGE_WIDTH = 640

# Told apart by people who see fewer colours, on paper and on a dark ground; lines differ in their dashes and points in their shapes as well.
LIGHT = ("#0072b2", "#d55e00", "#009e73", "#aa3377", "#8c6d00", "#56b4e9", "#555555", "#66259e")
DARK = ("#56b4e9", "#f0904a", "#2cc79a", "#e78ac3", "#f0e442", "#a6d8f5", "#bbbbbb", "#b18cf0")
FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif"


def config(colours: tuple[str, ...], text: str, muted: str, grid: str, ground: str | None, font: str = FONT) -> dict[str, Any]:
    return {
        "background": ground, "font": font, "view": {"stroke": None}, "range": {"category": list(colours)},
        "axis": {"labelColor": text, "titleColor": text, "gridColor": grid, "domainColor": muted, "tickColor": muted, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": 600, "titlePadding": 8},
        "legend": {"labelColor": text, "titleColor": text, "labelFontSize": 12, "symbolSize": 110, "padding": 4},
        "text": {"color": text, "fontSize": 12}, "rule": {"color": muted}, "bar": {"color": colours[0]}, "line": {"color": colours[0], "strokeWidth": 2},
        "point": {"color": colours[0]}, "tick": {"color": colours[0]}, "style": {"ceiling": {"color": muted, "stroke": muted}, "ceiling_label": {"fill": text, "fontSize": 11}},
    }


THEMES = {"light": config(LIGHT, "#1f2328", "#59636e", "#e3e6ea", None), "dark": config(DARK, "#e6e8eb", "#9aa4af", "#32383f", None)}


def need_library() -> Any:
    """The module. Raises ImportError that says how to get it."""
    try:
        import vl_convert
    except ImportError as error:
        raise ImportError(MISSING, name="vl_convert") from error
    return vl_convert


def sized(spec: Spec, width: int) -> Spec:
    return {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}, "params": [{"name": "room", "value": width}], **spec}


@functools.cache
def javascript() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script that defines vegaEmbed, out of the installed library."""
    return str(need_library().javascript_bundle()).replace("</script", "<\\/script").replace("<!--", "\\x3c!--")


def image(spec: Spec, ending: str) -> bytes:
    """PNG at twice the size, or SVG, on a white ground."""
    library = need_library()
    paper = config(LIGHT, "#1f2328", "#59636e", "#e3e6ea", "#ffffff", font="sans-serif")
    whole = {"$schema": f"https://vega.github.io/schema/vega-lite/v{library.get_vegalite_versions()[-1].split('.')[0]}.json", **sized(spec, IMAGE_WIDTH)}
    if ending == "png":
        return bytes(library.vegalite_to_png(whole, config=paper, scale=2))
    return str(library.vegalite_to_svg(whole, config=paper)).encode("utf-8")
