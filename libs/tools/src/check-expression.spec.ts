import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { jsonataFunctions } from './jsonata-functions.js';
import { report } from './refund-tool.spec-helper.js';

/** What is wrong with an expression for `present`. */
function mistakes(expression: string): string[] {
  return report(['"$count(data) > 0"', JSON.stringify(expression)]);
}

describe('an expression', () => {
  test.each([
    ['$cnt(data) > 0', '$cnt is neither a function of JSONata nor known here ($data, $status); nearest is $count'],
    [
      '$exists(data[$lenght(id) > 1])',
      '$lenght is neither a function of JSONata nor known here ($data, $status); nearest is $length',
    ],
    ['data ~> $cout', '$cout is neither a function of JSONata nor known here ($data, $status); nearest is $count'],
    [
      '$map(data, $strng)',
      '$strng is neither a function of JSONata nor known here ($data, $status); nearest is $string',
    ],
    [
      '( $n := 1; $statuss = $n )',
      '$statuss is neither a function of JSONata nor known here ($data, $status, $n); nearest is $status',
    ],
    ['$args.id = "a"', '$args is neither a function of JSONata nor known here ($data, $status); nearest is $abs'],
    ['count(data) > 0', 'count is a field and cannot be called; functions begin with `$`, as in $count'],
  ])('%s is refused before it runs', (expression, message) => {
    expect(mistakes(expression)).toEqual([`35 upstream.lookup.present: ${message}`]);
  });

  test.each([
    '( $n := $count(data); $f := function($x) { $x > $n }; $f(0) )',
    'data@$d#$i[$i < 2].$d.id = "x"',
    'data.items#$i[$i = 0].id = $$.id',
    '$reduce($data, function($sum, $each) { $sum + $each.n }, 0) > $status',
    '$contains(data.id, /^(a+)+$/i) and $now() > "2000"',
    'data.id ~> $substring(?, 0, 1) = "a"',
    '$.data.%.status = 200',
  ])('%s is fine', (expression) => {
    expect(mistakes(expression)).toEqual([]);
  });

  test('has patterns without back references', () => {
    expect(mistakes('$contains(data.id, /(a)\\1/)')).toEqual([
      expect.stringMatching(/^35 upstream\.lookup\.present: the pattern \(a\)\\1 cannot be matched in linear time: /),
    ]);
  });

  test('of the body knows the arguments, not the answer', () => {
    expect(report(['"$args"', '"{ \\"a\\": $args.order_id }"'])).toEqual([]);
    expect(report(['"$args"', '"$data"'])).toEqual([
      expect.stringMatching(/^28 upstream\.http\.body: \$data is neither/),
    ]);
  });
});

test('the functions known are those of the JSONata that runs', async () => {
  const code = await readFile(createRequire(import.meta.url).resolve('jsonata'), 'utf8');
  const bound = [...code.matchAll(/(?:staticFrame|environment)\.bind\(['"](\w+)['"], defineFunction/g)];
  const names = new Set(bound.map(([, name]) => String(name)));
  names.delete('eval');
  expect([...names].toSorted()).toEqual([...jsonataFunctions].toSorted());
});
