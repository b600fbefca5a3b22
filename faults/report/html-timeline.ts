import type { TimelineLine } from '../history/violation.js';
import { html, type Markup } from './markup.js';
import { sinceFirst } from './wording.js';

/** Those that have a lane of their own, from above. */
const lanes = ['client', 'log', 'upstream', 'fault'] as const;

const width = 720;
const laneHeight = 22;
const margin = 12;

/** The story of a violation: who did something when, as a picture, and all of it in words below. */
export function timelineOf(timeline: readonly TimelineLine[]): Markup {
  if (timeline.length === 0) return html``;
  const since = sinceFirst(timeline);
  const timed = timeline.some(({ at }) => at !== null);
  return html`${timed ? picture(timeline) : html``}
<table class="timeline">
<thead><tr>${timed ? html`<th class="n">s</th>` : html``}<th>who</th><th>what</th></tr></thead>
<tbody>
${timeline.map(
  (
    line,
  ) => html`<tr>${timed ? html`<td class="n">${since(line)}</td>` : html``}<td class="who ${laneOf(line)}">${line.who}</td><td>${line.what}</td></tr>
`,
)}</tbody></table>`;
}

/** A dot for each line on the lane of who it is about. There are no words in it, so that it may shrink to any width. */
function picture(timeline: readonly TimelineLine[]): Markup {
  const times = timeline.flatMap(({ at }) => (at === null ? [] : [at]));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const present = [...lanes, 'other' as const].filter((lane) => timeline.some((line) => laneOf(line) === lane));
  const x = (at: number) => margin + ((at - first) / Math.max(last - first, 1)) * (width - 2 * margin);
  const y = (lane: Lane) => margin + (present.indexOf(lane) + 0.5) * laneHeight;
  const height = 2 * margin + present.length * laneHeight;
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="When who did something: ${present.join(', ')}">
${present.map(
  (lane) => html`<line x1="${margin}" x2="${width - margin}" y1="${y(lane)}" y2="${y(lane)}"/>
`,
)}${timeline.map((line) =>
  line.at === null
    ? html``
    : html`<circle class="${laneOf(line)}" cx="${x(line.at).toFixed(1)}" cy="${y(laneOf(line))}" r="6"><title>${line.what}</title></circle>
`,
)}</svg>
<div class="ends"><span>0 s</span><span>lanes: ${present.join(', ')}</span><span>${((last - first) / 1_000).toFixed(3)} s</span></div>`;
}

type Lane = (typeof lanes)[number] | 'other';

function laneOf({ who }: TimelineLine): Lane {
  return lanes.find((lane) => lane === who) ?? 'other';
}
