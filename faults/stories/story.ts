/** A flow test that holds a story: its file in test/flow without `.flow.spec.ts`, and its title as the source has it. */
export type StoryTest = readonly [file: string, title: string];

export interface Story {
  /** Such as `S23` or `T9`; the title of a test that holds it ends with it in parentheses. */
  readonly id: string;
  readonly what: string;
  /** Left out where its feature does not exist yet. */
  readonly tests?: readonly StoryTest[];
  /** The feature that the story, or the part of it that is named, comes with. */
  readonly waitsFor?: string;
}

/** Finds the tests of one title among all of a file: what is filled in when they run fits, whatever it is. */
export function titlePattern(title: string): RegExp {
  const parts = title.split(/%s|\$\{\w+\}/).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`${parts.join('.*')}$`);
}
