import type { Argv } from '@intendant/contracts';
import { MappingError } from './mapping-error.js';
import { fill, type TemplateValues } from './template.js';

/**
 * The arguments of a program, with `{{key}}`, `{{intentId}}`, `{{field}}` and, for a poll, `{{accepted.field}}` filled
 * in. Every item stays one argument, whatever is in it. The program itself is always the one that the tool file names.
 *
 * @throws MappingError when a value is missing, is an object or a list, or would be taken for an option
 */
export function fillArgv([program, ...args]: Argv, values: TemplateValues): string[] {
  if (program.includes('{{')) throw new MappingError('the program cannot be filled in');
  const plain = args.indexOf('--');
  return [program, ...args.map((item, index) => fillItem(item, values, plain >= 0 && index > plain))];
}

function fillItem(item: string, values: TemplateValues, plain: boolean): string {
  const filled = fill(item, values, (text, name) => {
    if (text.includes('\0')) throw new MappingError(`{{${name}}} has a character that no argument can carry`);
    return text;
  });
  // A model could choose options of the program otherwise.
  if (!plain && filled.startsWith('-') && !item.startsWith('-')) {
    throw new MappingError(`${item} would be taken for an option; write --name=${item}, or an item \`--\` before it`);
  }
  return filled;
}
