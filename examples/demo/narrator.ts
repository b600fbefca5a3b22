import { styleText } from 'node:util';
import { explainEvent } from './explain-event.js';
import type { TimelineEvent } from './timeline-event.js';
import { wrap } from './wrap.js';

const stepWidth = 16;
const typeWidth = 20;
/** Widest line in a log, which has no width of its own. */
const logWidth = 140;
const narrowestText = 40;

/** Writes the story to standard output, with colours on a terminal only. */
export class Narrator {
  chapter(title: string): void {
    console.log(`\n${paint('bold', title)}`);
  }

  /** What somebody does or is told; `who` is a word such as "agent". */
  tell(who: string, line: string): void {
    this.#say('cyan', who.padEnd(stepWidth), line);
  }

  /** One event, with the seconds since its intent was recorded. */
  event(stepId: string, seconds: number, event: TimelineEvent): void {
    const time = `+${seconds.toFixed(2)}s`.padStart(8);
    const head = `${stepId.padEnd(stepWidth)} ${time}  ${event.type.padEnd(typeWidth)}`;
    this.#say(colourOf(event.type), head, explainEvent(event));
  }

  plain(text: string): void {
    console.log(text);
  }

  good(line: string): void {
    console.log(`${paint('green', '✓')} ${line}`);
  }

  bad(line: string): void {
    console.log(`${paint('red', '✗')} ${line}`);
  }

  #say(style: Style, head: string, text: string): void {
    const indent = `  ${' '.repeat(head.length)} `;
    const width = Math.max(Math.min(process.stdout.columns ?? logWidth, logWidth) - indent.length, narrowestText);
    const [first = '', ...rest] = wrap(text, width);
    console.log([`  ${paint(style, head)} ${first}`, ...rest.map((line) => indent + line)].join('\n'));
  }
}

type Style = 'bold' | 'cyan' | 'green' | 'yellow' | 'red' | 'gray';

function colourOf(type: string): Style {
  if (type === 'committed') return 'green';
  if (type === 'outcome_unknown' || type === 'dead_lettered') return 'yellow';
  return ['denied', 'failed', 'expired', 'corrected'].includes(type) ? 'red' : 'gray';
}

function paint(style: Style, text: string): string {
  return process.stdout.isTTY ? styleText(style, text) : text;
}
