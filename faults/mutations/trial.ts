import type { CaseReport, Layer } from '../case.js';

/** What one layer had to say about one mutant. */
export type Trial =
  | {
      readonly result: 'caught';
      /** What was broken, by the names that the layer gives its rules. */
      readonly rules: readonly string[];
      /** The first violation. */
      readonly message: string;
      /** Cases, or rounds, until it was. */
      readonly cases: number;
      readonly seconds: number;
    }
  | { readonly result: 'held'; readonly cases: number; readonly seconds: number }
  /** The rig itself failed, which says nothing about the mutant. */
  | { readonly result: 'broken'; readonly why: string; readonly cases: number; readonly seconds: number };

/**
 * What the cases of a layer say together. A rule that was broken is a finding even where other cases could not be judged;
 * without one, a case that could not be judged is no sign of anything.
 */
export function judge(reports: readonly CaseReport[], seconds: number): Trial {
  const cases = reports.length;
  const violations = reports.flatMap((report) => report.violations);
  const [first] = violations;
  if (first !== undefined) {
    const rules = [...new Set(violations.map(({ rule }) => rule))].sort(inOrder);
    return { result: 'caught', rules, message: first.message, cases, seconds };
  }
  const broken = reports.find((report) => report.broken !== undefined);
  if (broken !== undefined) return { result: 'broken', why: `${broken.name}: ${broken.broken}`, cases, seconds };
  if (cases === 0) return { result: 'broken', why: 'the layer ran no case', cases, seconds };
  return { result: 'held', cases, seconds };
}

/** I2 before I10. */
function inOrder(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

/**
 * The layers that try a mutant, from cheap to dear: a few rounds take less than all points. L4 is made of the product's own
 * tests and has been there before.
 */
export const gateLayers = ['L0', 'L1', 'L2', 'L5', 'L3'] as const satisfies readonly Layer[];
export type GateLayer = (typeof gateLayers)[number];
