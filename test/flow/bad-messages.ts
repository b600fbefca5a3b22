/** What is wrong with a message, and how it is answered. */
export interface BadMessage {
  readonly what: string;
  readonly payload: string | Uint8Array;
  readonly code: string;
  /** Where the answer points to, and what it says would be right there. */
  readonly problem: { readonly pointer: string; readonly expected: RegExp };
}

const args = (text: string) => `{"tool":"effects.keyed","args":${text}}`;
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

/** Messages of a verified sender that cannot be admitted, whatever the way they come in. */
export const badMessages: readonly BadMessage[] = [
  {
    what: 'not JSON',
    payload: '{"tool": effects.keyed',
    code: 'invalid_message',
    problem: { pointer: '', expected: /^JSON$/ },
  },
  { what: 'nothing at all', payload: '', code: 'invalid_message', problem: { pointer: '', expected: /JSON/ } },
  {
    what: 'JSON with a raw NUL in it',
    payload: args('{"ref":"a\0b"}'),
    code: 'invalid_message',
    problem: { pointer: '', expected: /^JSON$/ },
  },
  {
    what: 'not JSON beyond the basic plane',
    payload: '{"tool": \u{1f600}\u{1f600}',
    code: 'invalid_message',
    problem: { pointer: '', expected: /^JSON$/ },
  },
  {
    what: 'bytes that are not UTF-8',
    payload: Buffer.from([0x7b, 0xff, 0xfe, 0x00]),
    code: 'invalid_message',
    problem: { pointer: '', expected: /UTF-8/ },
  },
  {
    what: 'a list',
    payload: '["effects.keyed"]',
    code: 'invalid_message',
    problem: { pointer: '', expected: /a JSON object/ },
  },
  {
    what: '300 KiB',
    payload: args(`{"ref":"${'x'.repeat(300 * 1024)}"}`),
    code: 'invalid_message',
    problem: { pointer: '', expected: /262144 bytes/ },
  },
  {
    what: 'an unknown field',
    payload: '{"tool":"effects.keyed","args":{"ref":"a"},"stepID":"s1"}',
    code: 'invalid_message',
    problem: { pointer: '/stepID', expected: /did you mean stepId/ },
  },
  {
    what: 'an identity',
    payload: '{"tool":"effects.keyed","args":{"ref":"a"},"userId":"root"}',
    code: 'invalid_message',
    problem: { pointer: '/userId', expected: /run token/ },
  },
  {
    what: 'no arguments',
    payload: '{"tool":"effects.keyed"}',
    code: 'invalid_message',
    problem: { pointer: '/args', expected: /an object/ },
  },
  {
    what: 'a step with spaces',
    payload: '{"tool":"effects.keyed","args":{"ref":"a"},"stepId":"a b"}',
    code: 'invalid_message',
    problem: { pointer: '/stepId', expected: /128 printable ASCII/ },
  },
  {
    what: 'a NUL in a value',
    payload: args('{"ref":"a\\u0000b"}'),
    code: 'invalid_message',
    problem: { pointer: '/args/ref', expected: /without NUL/ },
  },
  {
    what: 'a NUL in a name',
    payload: args('{"a\\u0000b":"c"}'),
    code: 'invalid_message',
    problem: { pointer: '/args/a\0b', expected: /without NUL/ },
  },
  {
    what: 'half a surrogate pair in a value',
    payload: args('{"ref":"\\ud800"}'),
    code: 'invalid_message',
    problem: { pointer: '/args/ref', expected: /well-formed/ },
  },
  {
    what: 'half a surrogate pair in a name',
    payload: args('{"\\udc00":"c"}'),
    code: 'invalid_message',
    problem: { pointer: '/args/\udc00', expected: /well-formed/ },
  },
  {
    what: 'a number beyond 2^53',
    payload: args('{"ref":"a","amount":9007199254740993}'),
    code: 'invalid_message',
    problem: { pointer: '/args/amount', expected: /2\^53/ },
  },
  {
    what: 'an infinite number',
    payload: args('{"ref":"a","amount":1e999}'),
    code: 'invalid_message',
    problem: { pointer: '/args/amount', expected: /double precision/ },
  },
  {
    what: 'nesting 1,000 deep',
    payload: args(deep(1_000)),
    code: 'invalid_message',
    problem: { pointer: `/args${'/a'.repeat(63)}`, expected: /64 levels/ },
  },
  {
    what: 'a field __proto__',
    payload: args('{"ref":"a","__proto__":{"amount":1}}'),
    code: 'invalid_message',
    problem: { pointer: '/args/__proto__', expected: /no field of this name/ },
  },
  {
    what: 'a field twice',
    payload: args('{"ref":"a","amount":1,"amount":2}'),
    code: 'invalid_message',
    problem: { pointer: '/args/amount', expected: /only once/ },
  },
  {
    what: 'a sandbox call',
    payload: '{"tool":"effects.keyed","args":{"ref":"a"},"sandbox":true}',
    code: 'invalid_message',
    problem: { pointer: '/sandbox', expected: /^false$/ },
  },
  {
    what: 'a missing argument',
    payload: args('{"amount":1}'),
    code: 'invalid_arguments',
    problem: { pointer: '/ref', expected: /a string \(required\)/ },
  },
];
