"""A report as one HTML file: pictures inside, no script, nothing loaded from elsewhere, light and dark."""

import html
import json

from . import svg

__all__ = ["draw"]

_STYLE = """
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1060px;margin:0 auto;padding:24px 20px 60px}
h1{font-size:24px;line-height:1.25;margin:0 0 6px}
h2{font-size:17px;margin:32px 0 8px}
.label{display:inline-block;padding:3px 10px;border-radius:6px;background:var(--band);font-weight:600}
ul{padding-left:20px;margin:16px 0}
figure{margin:20px 0;border:1px solid var(--grid);border-radius:8px;overflow:hidden;background:var(--paper)}
figure svg{display:block;width:100%;height:auto}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:13.5px;font-variant-numeric:tabular-nums;width:100%}
th,td{padding:4px 12px 4px 0;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}
th:first-child,td:first-child,.word{text-align:left}
pre{background:var(--band);padding:12px;border-radius:8px;overflow-x:auto;font-size:12.5px;white-space:pre-wrap}
summary{cursor:pointer}
.note{color:var(--dim);font-size:13px}
"""
_PAGE = {
    "light": "--page:#f6f7f8;--band:#e8ecf1;--dim:#5b6067",
    "dark": "--page:#0f1113;--band:#23272c;--dim:#a4a9b0",
}


def draw(report):
    """The text of the file."""

    def text(value):
        return html.escape(str(value))

    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{text(report.title)}</title>',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<style>{svg.style(':root')}",
        f":root{{{_PAGE['light']}}}@media(prefers-color-scheme:dark){{:root{{{_PAGE['dark']}}}}}{_STYLE}</style>",
        f"</head><body><main><h1>{text(report.title)}</h1>",
        f'<p class="label">{text(report.label)}</p>',
        "<ul>" + "".join(f"<li>{text(line)}</li>" for line in report.findings) + "</ul>",
    ]
    parts += [f"<figure>{svg.draw(figure, standalone=False)}</figure>" for figure in report.figures]
    for table in report.tables:
        words = table.words()

        def row(tag, cells, words=words):
            return "<tr>" + "".join(
                f'<{tag}{" class=word" if word else ""}>{text(cell)}</{tag}>' for cell, word in zip(cells, words)
            ) + "</tr>"  # fmt: skip

        parts += [f"<h2>{text(table.title)}</h2>", '<div class="wide"><table><thead>']
        parts.append(row("th", table.head) + "</thead><tbody>")
        parts += [row("td", cells) for cells in table.rows]
        parts.append("</tbody></table></div>")
        if table.note:
            parts.append(f'<p class="note">{text(table.note)}</p>')
    record = json.dumps(report.record, indent=1, ensure_ascii=False)
    parts.append(
        f"<h2>Record</h2><details><summary>What was measured where</summary><pre>{text(record)}</pre></details>"
    )
    parts.append(
        f"<h2>Numbers</h2><details><summary>As JSON</summary><pre>{text(report.json())}</pre></details>"
    )
    parts.append("</main></body></html>")
    return "\n".join(parts) + "\n"
