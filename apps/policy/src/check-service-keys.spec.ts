import { createHash } from 'node:crypto';
import { parseServiceKeys } from '@intendant/credentials';
import { parsePolicyFiles } from '@intendant/rules';
import { expect, test } from 'vitest';
import { checkServiceKeys } from './check-service-keys.js';

const keys = (...names: string[]) =>
  parseServiceKeys(names.map((name) => `${name}=${createHash('sha256').update(name).digest('hex')}`).join(','));
const files = (name: string, tenant?: string) => {
  const text = `apiVersion: intendant/policy/v1\n${tenant ? `tenant: ${tenant}\n` : ''}serviceKeys: { ${name}: { ceilings: { calls: 5 } } }\n`;
  return parsePolicyFiles([{ file: 'a.policy.yaml', text }], []);
};

test('a policy for a service key that there is binds it, whichever tenant it is of', () => {
  checkServiceKeys(files('bot'), keys('bot@acme'));
  checkServiceKeys(files('bot', 'acme'), keys('bot@acme', 'bot@globex'));
  checkServiceKeys(files('anybody'), keys());
});

test('a policy for one that nobody has stops the start, with those that there are', () => {
  expect(() => checkServiceKeys(files('bto'), keys('bot@acme'))).toThrow(
    /policy file of the deployment names the service key bto.*it has: bot/,
  );
  expect(() => checkServiceKeys(files('bot', 'globex'), keys('bot@acme', 'eve@globex'))).toThrow(
    /tenant globex names the service key bot.*it has: eve/,
  );
});
