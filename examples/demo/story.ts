import type { Agent } from '../agents/http/agent.js';
import type { Narrator } from './narrator.js';
import type { Operator } from './operator.js';
import type { RunWatch } from './run-watch.js';
import type { UpstreamControl } from './upstream.js';

/** Everything a chapter needs. */
export interface Story {
  readonly agent: Agent;
  readonly operator: Operator;
  readonly upstream: UpstreamControl;
  readonly watch: RunWatch;
  readonly narrator: Narrator;
  /** Lower-case letters and digits that occur in everything this run does and in nothing any other does. */
  readonly mark: string;
  /** Writes down that the story did not go as it is told, and goes on. */
  expect(fact: boolean, sentence: string): void;
}

/** An order id of this run; `letter` tells the chapters apart. */
export function orderId({ mark }: Story, letter: string): string {
  return `ord_${mark}${letter}`;
}
