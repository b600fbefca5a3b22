import type { JsonObject } from '@intendant/intent';

const items = { type: 'integer', minimum: 1, maximum: 1_000, title: 'a whole number from 1 to 1000' };
const pointer = {
  type: 'string',
  pattern: '^(?:/[^/]*)*$',
  title: 'a JSON Pointer such as /items, empty for the whole',
};
const name = { type: 'string', minLength: 1, title: 'the name of an argument' };

/** How a list in the answer of a tool is shortened. */
export const resultListSchema: JsonObject = {
  type: 'object',
  title: 'how a list is shortened',
  additionalProperties: false,
  required: ['at'],
  properties: {
    at: { ...pointer, description: 'Where the list is in the answer; empty where the answer is the list.' },
    limit: { ...items, description: 'Items that are shown; 20 when left out.' },
    max: { ...items, description: 'Most items that a call or a page may ask for; 100 when left out.' },
    total: { ...pointer, description: 'Where the answer says how many there are in all.' },
    argument: { ...name, description: 'The argument by which a call asks for more or fewer items.' },
    order: {
      ...{ type: 'string', pattern: '^[^\\n\\r]{1,60}$', title: 'one line of 60 characters at most' },
      description: 'In what order they are, such as newest first; part of the sentence.',
    },
    narrow: {
      ...{ type: 'array', minItems: 1, maxItems: 10, uniqueItems: true, items: name },
      title: 'a list of arguments without repetition',
      description: 'Arguments that narrow the list down; part of the sentence.',
    },
  },
};
