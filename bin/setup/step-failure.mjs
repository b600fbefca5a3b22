/**
 * A step of the launcher that cannot go on: which one, why, and what the reader can do about it.
 * It is printed without a stack trace, because the reader is a user and not the author of the launcher.
 */
export class StepFailure extends Error {
  constructor(step, why, whatToDo, log) {
    super(`${step}: ${why}`);
    this.step = step;
    this.why = why;
    this.whatToDo = whatToDo;
    this.log = log;
  }

  toString() {
    const lines = [`✗ ${this.step}: ${this.why}`, `  What to do: ${this.whatToDo}`];
    if (this.log) lines.push(`  Log: ${this.log}`);
    return lines.join('\n');
  }
}
