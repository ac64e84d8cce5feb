"""The checklist as one HTML file: filters, ticks kept in the browser, no network."""

from __future__ import annotations

import html
import json

from ascendops.migrate.checklist.markdown import TITLES, summary
from ascendops.migrate.model import STATUSES, Report

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --red: #b3261e; --orange: #a04a06; --yellow: #7a6000; --blue: #2457b3; --green: #23722f; }
@media (prefers-color-scheme: dark) { :root { --red: #f2887f; --orange: #f0a35e; --yellow: #e0c050; --blue: #8ab0f5; --green: #6cc48f; } }
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 1200px; padding: 0 1rem; }
form { position: sticky; top: 0; background: Canvas; padding: .6rem 0; display: flex; gap: .6rem; flex-wrap: wrap; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .35rem .5rem; border-bottom: 1px solid var(--line); }
code { background: var(--soft); padding: 0 .25em; border-radius: 3px; overflow-wrap: break-word; }
td:nth-child(2), td:nth-child(3) { min-width: 8.5rem; } td:nth-child(4) { font-weight: 600; } .unweighed :is(td, th):nth-child(7) { display: none; } [hidden] { display: none !important; }
tr.done { opacity: .45; } small { opacity: .75; } .no_equivalent { color: var(--red); } .custom_op { color: var(--orange); } .restricted { color: var(--yellow); } .rename { color: var(--blue); } .works_as_is { color: var(--green); }
small { overflow-wrap: anywhere; } .empty { padding: 1rem 0; }
@media (max-width: 720px) { thead { display: none; } tr { display: block; padding: .6rem 0; border-bottom: 1px solid var(--line); } td { display: inline-block; border: 0; padding: .1rem .4rem .1rem 0; min-width: 0 !important; } td:nth-child(5) { display: block; } }
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
  const cell = (text, tag, cls) => { const td = tr.insertCell(), e = document.createElement(tag || 'span'); tag === 'code' ? e.append(...text.split(/(?<=[/._:])/).flatMap(part => [part, document.createElement('wbr')])) : e.textContent = text; if (cls) e.className = cls; td.append(e); return td; };
  cell(f.file + (f.cell === undefined ? '' : ' cell ' + f.cell) + (f.line ? ':' + f.line : ''), 'code');
  cell(f.construct, 'code');
  const words = name => name.replaceAll('_', ' ');
  cell(words(f.status) + (f.status_950 !== f.status ? ' (950: ' + words(f.status_950) + ')' : ''), 'span', f.status);
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
  document.querySelector('.empty').hidden = count > 0 || !rows.length;
  document.querySelector('#count').textContent = count + ' of ' + rows.length;
}
document.querySelector('table').className = data.some(f => f.weight) ? '' : 'unweighed';
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
<p class="empty" hidden>No finding matches the filters.</p>{"" if report.findings else "<p>Nothing here needs to be changed for CANN.</p>"}
<details><summary>Names that no rule knows ({len(report.unknown)})</summary><ul>{unknown}</ul></details>
<details><summary>Not read, or read in part ({len(report.skipped)})</summary><ul>{skipped}</ul></details>
<script id="data" type="application/json">{data}</script><script>{_SCRIPT}</script></html>"""
