"""The checklist as one HTML file: filters, ticks kept in the browser, no network."""

from __future__ import annotations

import html
import json

from ascendops.migrate.checklist.markdown import TITLES, summary
from ascendops.migrate.model import STATUSES, Report

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 1200px; padding: 0 1rem; }
form { position: sticky; top: 0; background: Canvas; padding: .6rem 0; display: flex; gap: .6rem; flex-wrap: wrap; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .35rem .5rem; border-bottom: 1px solid var(--line); }
code { background: var(--soft); padding: 0 .25em; border-radius: 3px; overflow-wrap: anywhere; }
tr.done { opacity: .45; } small { opacity: .75; } .no_equivalent { color: #c0392b; } .custom_op { color: #b9570a; } .restricted { color: #8a6d00; } .rename { color: #2a6fb0; } .works_as_is { color: #2c8a3d; }
"""

_SCRIPT = """
const data = JSON.parse(document.getElementById('data').textContent), body = document.querySelector('tbody'), key = 'ascendops-migrate';
const done = new Set(JSON.parse(localStorage.getItem(key) || '[]'));
const rows = data.map(f => {
  const tr = body.insertRow(); tr.className = done.has(f.fingerprint) ? 'done' : '';
  const box = document.createElement('input'); box.type = 'checkbox'; box.checked = done.has(f.fingerprint);
  box.setAttribute('aria-label', 'done: ' + f.construct);
  box.onchange = () => { box.checked ? done.add(f.fingerprint) : done.delete(f.fingerprint); localStorage.setItem(key, JSON.stringify([...done])); tr.className = box.checked ? 'done' : ''; show(); };
  tr.insertCell().append(box);
  const cell = (text, tag, cls) => { const td = tr.insertCell(), e = document.createElement(tag || 'span'); e.textContent = text; if (cls) e.className = cls; td.append(e); return td; };
  cell(f.file + (f.cell === undefined ? '' : ' cell ' + f.cell) + (f.line ? ':' + f.line : ''), 'code');
  cell(f.construct, 'code');
  cell(f.status + (f.status_950 !== f.status ? ' (950: ' + f.status_950 + ')' : ''), 'span', f.status);
  const td = cell(f.todo); const more = document.createElement('small');
  more.textContent = ' ' + [f.command, f.evidence, f.shim === undefined ? '' : f.shim ? 'shim: yes' : 'shim: no', f.rule].filter(Boolean).join(' · ');
  td.append(document.createElement('br'), more);
  cell(f.effort); cell(f.weight ? f.weight.toFixed(1) + ' %' : '');
  return [tr, f, (f.file + ' ' + f.construct + ' ' + f.todo + ' ' + f.rule).toLowerCase()];
});
function show() {
  const text = document.querySelector('#text').value.toLowerCase(), status = document.querySelector('#status').value, effort = document.querySelector('#effort').value, open = document.querySelector('#open').checked;
  let count = 0;
  for (const [tr, f, all] of rows) { const on = all.includes(text) && (!status || f.status === status) && (!effort || f.effort === effort) && (!open || !done.has(f.fingerprint)); tr.hidden = !on; count += on; }
  document.querySelector('#count').textContent = count + ' of ' + rows.length;
}
document.querySelector('form').oninput = show; show();
"""


def page(report: Report) -> str:
    """The whole file; scanned text is data in it, never markup or code."""
    data = json.dumps([finding.to_dict() for finding in report.findings]).replace("<", "\\u003c")
    options = "".join(f'<option value="{status}">{html.escape(TITLES[status])}</option>' for status in STATUSES)
    efforts = "".join(f"<option>{effort}</option>" for effort in ("minutes", "hours", "days"))
    skipped = "".join(
        f"<li><code>{html.escape(skip.file)}</code>: {html.escape(skip.reason)}</li>" for skip in report.skipped
    )
    unknown = "".join(
        f"<li><code>{html.escape(name.name)}</code> {html.escape(name.file)}:{name.line}</li>"
        for name in report.unknown
    )
    triton = f"<p>{html.escape(report.triton['note'])}.</p>" if report.triton else ""
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Migration checklist</title><style>{_STYLE}</style>
<h1>Migration checklist: CUDA to CANN</h1><p>{html.escape(summary(report))}</p>{triton}
<form onsubmit="return false"><input id="text" type="search" placeholder="file, construct, rule" aria-label="filter by text">
<select id="status" aria-label="status"><option value="">every status</option>{options}</select>
<select id="effort" aria-label="effort"><option value="">every effort</option>{efforts}</select>
<label><input id="open" type="checkbox"> open only</label> <output id="count"></output></form>
<table><thead><tr><th>done<th>place<th>construct<th>status<th>what to do<th>effort<th>time</thead><tbody></tbody></table>
<details><summary>Names that no rule knows ({len(report.unknown)})</summary><ul>{unknown}</ul></details>
<details><summary>Not read, or read in part ({len(report.skipped)})</summary><ul>{skipped}</ul></details>
<script id="data" type="application/json">{data}</script><script>{_SCRIPT}</script></html>"""
