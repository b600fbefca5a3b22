/** A prepared statement whose parameters have names, `@tenant` in its text, instead of numbers. */
export interface Named<Values> {
  readonly name: string;
  /** With numbers, as the driver wants it. */
  readonly text: string;
  /** Names in the order of the numbers. */
  readonly parameters: readonly (keyof Values & string)[];
}

export function named<Values>(name: string, text: string): Named<Values> {
  const parameters: (keyof Values & string)[] = [];
  const numbered = text.replaceAll(/@(\w+)/g, (_, found: keyof Values & string) => {
    if (!parameters.includes(found)) parameters.push(found);
    return `$${parameters.indexOf(found) + 1}`;
  });
  return { name, text: numbered, parameters };
}

/** What the driver is asked; values that the statement has no use for stay here. */
export function withValues<Values>({ name, text, parameters }: Named<Values>, values: Values) {
  return { name, text, values: parameters.map((parameter) => values[parameter]) };
}
