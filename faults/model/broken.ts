/** The model did something that the promise forbids. */
export class Broken extends Error {
  override readonly name = 'Broken';

  /** `rule`: an invariant of docs/fault-testing.md, or what a layer checks beside them. */
  constructor(
    readonly rule: string,
    message: string,
  ) {
    super(message);
  }
}

/** @throws Broken when it is not so. */
export function demand(holds: boolean, rule: string, message: string): asserts holds {
  if (!holds) throw new Broken(rule, message);
}
