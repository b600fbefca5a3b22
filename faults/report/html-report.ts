import type { CaseReport } from '../case.js';
import type { Violation } from '../history/violation.js';
import { style } from './html-style.js';
import { timelineOf } from './html-timeline.js';
import { html, Markup } from './markup.js';
import { type RunReport, runsOf } from './run-report.js';
import { type Count, commandOf, type StateCount, type Summary, summaryOf } from './summary.js';
import { describeRun, length, number, optionsOf, plural, verdictOf } from './wording.js';

/** Violations of one case whose story is told on the page; JSON has all of them. */
const told = 50;

/** One page with everything in it; it needs no script and nothing from elsewhere. */
export function htmlReport(run: RunReport): string {
  const summary = summaryOf(run);
  const failed = summary.violations > 0 || summary.broken.length > 0 || summary.cases === 0;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Fault rig: ${verdictOf(summary)}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<h1>Fault rig of Intendant</h1>
${runsOf(run).map((each) => html`<p class="soft">${describeRun(each)}<br><small>${optionsOf(each)}</small></p>`)}
<p class="verdict ${failed ? 'bad' : 'good'}">${verdictOf(summary)}</p>
${cards(run, summary)}
${failures(summary)}
${layerTable(summary)}
${states(summary)}
${faultTable(summary)}
${caseTable(run)}
</body>
</html>
`;
  return page.text;
}

function cards({ seconds }: RunReport, { cases, rounds, intents, faults, states, notTested }: Summary): Markup {
  const all: readonly (readonly [string, string])[] = [
    [number(cases), 'cases'],
    [number(rounds), 'random rounds'],
    [number(intents), 'intents'],
    [number(faults.reduce((sum, { count }) => sum + count, 0)), 'faults'],
    [`${states.length - notTested.length} of ${states.length}`, 'dangerous states reached'],
    [length(seconds), 'time'],
  ];
  return html`<div class="cards">${all.map(([value, what]) => html`<div class="card"><b>${value}</b>${what}</div>`)}</div>`;
}

function failures({ rules, failed, broken }: Summary): Markup {
  if (failed.length === 0 && broken.length === 0) return html``;
  return html`<h2>What failed</h2>
${rules.length > 0 ? html`<p>${rules.map(({ name, count }) => html`<span class="rule">${name}</span> ${plural(count, 'time')} `)}</p>` : html``}
${failed.map(failedCase)}
${broken.map(
  (report) => html`<div class="case"><h3>${report.layer} ${report.name}</h3>
<p class="warn">It could not be judged: ${report.broken ?? ''}</p>${again(report)}</div>`,
)}`;
}

function failedCase(report: CaseReport): Markup {
  const { layer, name, violations } = report;
  return html`<div class="case"><h3>${layer} ${name}: ${plural(violations.length, 'violation')}</h3>
${again(report)}
${violations.slice(0, told).map((violation, i) => violationOf(violation, i === 0))}
${violations.length > told ? html`<p class="soft">and ${number(violations.length - told)} more, which the JSON report has</p>` : html``}
</div>`;
}

function again(report: CaseReport): Markup {
  return html`<p>Again: <code>${commandOf(report)}</code></p>`;
}

function violationOf({ rule, message, timeline }: Violation, open: boolean): Markup {
  const story = timelineOf(timeline);
  return html`<div class="violation"><p><span class="rule">${rule}</span> ${message}</p>
${timeline.length === 0 ? html`` : html`<details${open ? new Markup(' open') : html``}><summary>${plural(timeline.length, 'line')} of its story</summary>${story}</details>`}</div>`;
}

function layerTable({ layers }: Summary): Markup {
  return html`<h2>Layers</h2>
<table><thead><tr><th>layer</th><th class="n">cases</th><th class="n">intents</th><th class="n">time</th><th class="n">violations</th><th class="n">not judged</th></tr></thead>
<tbody>${layers.map(
    ({ layer, cases, intents, seconds, violations, broken, figures }) => html`
<tr><td>${layer}${figures.length > 0 ? html`<br><small class="soft">${figures.map(({ name, count }) => `${name} ${number(count)}`).join(', ')}</small>` : html``}</td><td class="n">${number(cases)}</td><td class="n">${number(intents)}</td><td class="n">${length(seconds)}</td><td class="n${violations > 0 ? ' bad' : ''}">${number(violations)}</td><td class="n${broken > 0 ? ' warn' : ''}">${number(broken)}</td></tr>`,
  )}</tbody></table>`;
}

function states({ states: all, notTested }: Summary): Markup {
  if (all.length === 0) return html``;
  const most = Math.max(...all.map(({ count }) => count), 1);
  const row = ({ name, meaning, count }: StateCount) => html`
<tr><td>${name}${meaning === null ? html`` : html`<br><small class="soft">${meaning}</small>`}</td><td class="wide">${bar(count, most)}</td><td class="n">${count === 0 ? html`<span class="warn">not tested</span>` : number(count)}</td></tr>`;
  return html`<h2>Dangerous states</h2>
<p class="soft">How often each was really reached, from what was written down. A run says nothing about those that were not.</p>
<table><thead><tr><th>state</th><th class="wide"></th><th class="n">times</th></tr></thead>
<tbody>${notTested.map(row)}${all.filter(({ count }) => count > 0).map(row)}</tbody></table>`;
}

/** By its logarithm: counts lie between one and many thousands. */
function bar(count: number, most: number): Markup {
  if (count === 0) return html``;
  const share = (Math.log(count + 1) / Math.log(most + 1)) * 100;
  return html`<div class="bar" style="width: ${share.toFixed(1)}%"></div>`;
}

function faultTable({ faults }: Summary): Markup {
  if (faults.length === 0) return html``;
  const most = Math.max(...faults.map(({ count }) => count), 1);
  return html`<h2>Faults</h2>
<table><thead><tr><th>kind</th><th class="wide"></th><th class="n">times</th></tr></thead>
<tbody>${faults.map(
    ({ name, count }: Count) => html`
<tr><td>${name}</td><td class="wide">${bar(count, most)}</td><td class="n">${number(count)}</td></tr>`,
  )}</tbody></table>`;
}

function caseTable({ cases }: RunReport): Markup {
  return html`<h2>Cases</h2>
<details><summary>${plural(cases.length, 'case')}, with their seeds</summary>
<table><thead><tr><th>case</th><th class="n">seed</th><th class="n">intents</th><th class="n">time</th><th></th></tr></thead>
<tbody>${cases.map(
    ({ layer, name, seed, intents, seconds, violations, broken }) => html`
<tr><td>${layer} ${name}</td><td class="n">${seed}</td><td class="n">${number(intents)}</td><td class="n">${length(seconds)}</td><td>${broken !== undefined ? html`<span class="warn">not judged</span>` : violations.length > 0 ? html`<span class="bad">${plural(violations.length, 'violation')}</span>` : html`<span class="good">held</span>`}</td></tr>`,
  )}</tbody></table></details>`;
}
