import { describe, expect, test } from 'vitest';
import { parseToolFile } from './parse-tool-file.js';
import { environment, refundFile, refundTool, report } from './refund-tool.spec-helper.js';

describe('a variable', () => {
  test('that is not set is named with its line and field', () => {
    expect(report(['${PAYMENTS_URL}', '${REFUNDS_URL}'])).toEqual([
      '24 upstream.http.baseUrl: the environment variable REFUNDS_URL is not set; set it, or write ${REFUNDS_URL:-default}',
    ]);
  });

  test('may have a default, which also stands in for an empty value', () => {
    const text = refundFile(['${PAYMENTS_URL}', '${URL:-http://payments.example:8080}']);
    for (const env of [{}, { URL: '' }]) {
      expect(parseToolFile('f', text, env).upstream).toMatchObject({ baseUrl: 'http://payments.example:8080' });
    }
    expect(parseToolFile('f', text, { URL: 'http://other.example' }).upstream).toMatchObject({
      baseUrl: 'http://other.example',
    });
  });

  test('may stand unquoted inside braces', () => {
    const text = refundFile();
    const http = text.slice(text.indexOf('  http:'), text.indexOf('  statuses:'));
    const tool = refundTool([http, '  http: { baseUrl: ${PAYMENTS_URL}, method: POST, path: /refunds }\n']);
    expect(tool.upstream).toMatchObject({ baseUrl: environment.PAYMENTS_URL });
  });

  test('cannot bring YAML, and is not filled in again', () => {
    const value = 'a: ${PAYMENTS_URL} # {b}';
    const text = refundFile(['"{{order_id}}"', '"${NOTE}"']);
    expect(parseToolFile('f', text, { ...environment, NOTE: value }).upstream).toMatchObject({
      headers: { 'X-Order': value },
    });
  });

  test('is left alone outside upstream', () => {
    expect(refundTool(['Refund a captured', 'Refund ${PAYMENTS_URL}']).description).toContain('${PAYMENTS_URL}');
  });

  test('never shows its value in a message', () => {
    const text = refundFile(['method: POST', 'method: ${METHOD}'], ['"{{order_id}}"', '"${TOKEN}"']);
    const env = { PAYMENTS_URL: 'secret-url', METHOD: 'secret-method', TOKEN: 'secret\ntoken' };
    expect(() => parseToolFile('f', text, env)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    );
    expect(() => parseToolFile('f', text, env)).toThrow(
      /baseUrl.*\n.*method: is the string "\$\{METHOD\}".*\n.*X-Order/,
    );
  });

  test('with a name that cannot be one is refused instead of being sent as it stands', () => {
    expect(report(['"{{order_id}}"', '"${pay-token}"'])).toEqual([
      expect.stringContaining('not a reference to a variable'),
    ]);
  });

  test('from the prototype of the environment does not exist', () => {
    expect(report(['${PAYMENTS_URL}', '${toString}'])).toEqual([expect.stringContaining('toString is not set')]);
  });
});
