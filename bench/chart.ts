import { total } from './statistics.js';

/** One group of bars, drawn from a common zero. */
export interface Panel {
  readonly title: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** The value as it is written at the end of the bar. */
  readonly text: string;
  /** Whether it stands for Intendant itself. */
  readonly own: boolean;
}

const width = 720;
const margin = 16;
const labelWidth = 150;
const valueWidth = 70;
const barHeight = 18;
const rowHeight = 26;
const titleHeight = 34;

/** The chart brings its own background, so that it can be read wherever it is shown, light or dark. */
const style = `
    text { font: 13px system-ui, sans-serif; fill: #1f2328 }
    .title { font-weight: 600 }
    .background { fill: #ffffff }
    .other { fill: #8c959f }
    .own { fill: #0969da }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .background { fill: #0d1117 }
      .other { fill: #6e7681 }
      .own { fill: #58a6ff }
    }`;

/** Panels of horizontal bars, one below the other, as a document of SVG. */
export function chart(panels: readonly Panel[]): string {
  const heights = panels.map(({ bars }) => titleHeight + bars.length * rowHeight);
  const height = total(heights) + 2 * margin;
  const drawn = panels.map((panel, i) => panelAt(panel, margin + total(heights.slice(0, i))));
  const titles = escapeXml(panels.map(({ title }) => title).join('; '));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${titles}">
  <style>${style}
  </style>
  <rect class="background" width="${width}" height="${height}" rx="6"/>
${drawn.join('\n')}
</svg>
`;
}

function panelAt({ title, bars }: Panel, top: number): string {
  const longest = Math.max(...bars.map(({ value }) => value));
  const room = width - 2 * margin - labelWidth - valueWidth;
  const rows = bars.map((bar, i) => {
    const y = top + titleHeight + i * rowHeight;
    const length = longest > 0 ? (bar.value / longest) * room : 0;
    return rowOf(bar, y, length);
  });
  return [`  <text class="title" x="${margin}" y="${top + 20}">${escapeXml(title)}</text>`, ...rows].join('\n');
}

function rowOf({ label, text, own }: Bar, y: number, length: number): string {
  const start = margin + labelWidth;
  const baseline = y + barHeight - 4;
  return [
    `  <text x="${start - 8}" y="${baseline}" text-anchor="end">${escapeXml(label)}</text>`,
    `  <rect class="${own ? 'own' : 'other'}" x="${start}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" rx="2"/>`,
    `  <text x="${(start + length + 6).toFixed(1)}" y="${baseline}">${escapeXml(text)}</text>`,
  ].join('\n');
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
