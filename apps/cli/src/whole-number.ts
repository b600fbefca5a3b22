import { InvalidArgumentError } from 'commander';

/** Reads an option that is a whole number in that range; anything else is wrong usage. Its text goes on as it is. */
export function wholeNumber(least: number, most: number): (text: string) => string {
  return (text) => {
    if (/^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most) return text;
    throw new InvalidArgumentError(`It has to be a whole number from ${least} to ${most}.`);
  };
}
