import type { NextAction } from '@intendant/contracts';

/** One thing that is wrong with what was sent. */
export interface Problem {
  readonly pointer: string;
  readonly expected: string;
  readonly got?: string;
}

/** A command that could not be carried out; told in one or two sentences, without a stack. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';

  constructor(
    message: string,
    readonly nextAction: NextAction | null = null,
    /** Everything that is wrong, where it is more than the message says. */
    readonly problems: readonly Problem[] = [],
  ) {
    super(message);
  }
}

/** A command that was written wrongly. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}
