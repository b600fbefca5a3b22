import fs from 'node:fs';
import { expect, test } from 'vitest';
import { agreements, at, type Schema } from './wire-types.spec-helper.js';

const document: Schema = JSON.parse(fs.readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'));

function answer(method: string, route: string, status: string): Schema {
  return at(document, 'paths', route, method, 'responses', status, 'content', 'application/json', 'schema');
}
const component = (name: string) => at(document, 'components', 'schemas', name);
/** With other members, or (undefined) without some. */
function changed(
  schema: Schema,
  over: Readonly<Record<string, Schema | undefined>>,
  required = schema['required'],
): Schema {
  const properties = Object.entries({ ...at(schema, 'properties'), ...over }).filter(([, each]) => each !== undefined);
  return { ...schema, properties: Object.fromEntries(properties), required };
}

// A newer service may know more codes than a client that was installed before.
const error = changed(component('ErrorObject'), { code: { type: 'string' } });
const event = at(answer('get', '/v1/runs/{runId}/events', '200'), 'properties', 'events', 'items');
const known: Schema = {
  ...document,
  components: { schemas: { ...at(document, 'components', 'schemas'), ErrorObject: error } },
};

const pairs: readonly (readonly [string, Schema])[] = [
  ['NewRun', component('OpenRun')],
  ['OpenedRun', answer('post', '/v1/runs', '201')],
  ['ErrorObject', error],
  // What operators are told beside.
  ['IntentResult', changed(component('IntentResult'), { grant: undefined, safeResendUntil: undefined })],
  ['Tool', at(answer('get', '/v1/tools', '200'), 'properties', 'tools', 'items')],
  ['ResultPage', answer('get', '/v1/results/{handle}', '200')],
  // The client gives the id of the message, too.
  [
    'RunEvent',
    { allOf: [...(event['allOf'] as Schema[]), { required: ['id'], properties: { id: { type: 'string' } } }] },
  ],
];

test('the types of the client say what docs/openapi.json says', () => {
  const found = agreements(known, pairs);
  expect(Object.fromEntries(pairs.map(([name], i) => [name, found[i]]))).toEqual(
    Object.fromEntries(pairs.map(([name]) => [name, true])),
  );
});

test('a member that is renamed, dropped, added, or there in some cases only, is noticed', () => {
  const drifted = pairs
    .filter(([, schema]) => schema['properties'] !== undefined)
    .flatMap(([type, schema]) => {
      const needed = (schema['required'] as readonly string[] | undefined) ?? [];
      return Object.entries(at(schema, 'properties')).flatMap(([name, each]): (readonly [string, Schema])[] => {
        const others = needed.filter((one) => one !== name);
        return [
          [type, changed(schema, { [name]: undefined, [`${name}s`]: each as Schema }, [...others])],
          [type, changed(schema, { [name]: undefined }, others)],
          [type, changed(schema, { [`${name}s`]: { type: 'string' } })],
          [type, changed(schema, {}, needed.includes(name) ? others : [...needed, name])],
        ];
      });
    });
  expect(drifted.length).toBeGreaterThan(150);
  expect(agreements(known, drifted).filter(Boolean)).toEqual([]);
});

test('the document says of every value that is sent what it is', () => {
  const bare: string[] = [];
  const look = (value: unknown, where: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { type, properties, additionalProperties } = value as Schema;
    if (type === 'object' && properties === undefined && additionalProperties === undefined) bare.push(where);
    for (const [name, each] of Object.entries(value)) look(each, `${where}/${name}`);
  };
  look(at(document, 'components', 'schemas'), '');
  expect(bare).toEqual([]);
});
