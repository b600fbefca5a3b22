import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { runInProcess } from './run-in-process.spec-helper.js';

/** `main` of a service that serves health on the port, and what it says. */
function service(port: number, env: Record<string, string> = {}) {
  const script = `
    await module.main('the service', () => 'info', (logger) => module.startService({
      name: 'the service', module: class Nothing {}, host: '127.0.0.1', port: ${port}, logger }));`;
  return runInProcess('./service.ts', script, env);
}

describe('a start that fails ends with 1 and says why', () => {
  test('when the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    expect(await service(port).ended).toMatchObject({
      code: 1,
      errors: `the service cannot start: port ${port} on 127.0.0.1 is in use. Stop what listens there, or set INTENDANT_HTTP_PORT\n`,
    });
    other.close();
  });

  test('when the fault to be armed does not exist', async () => {
    const { code, errors } = await service(0, { INTENDANT_FAULT: 'nowhere:1:kill' }).ended;
    expect(code).toBe(1);
    expect(errors).toMatch(/^the service cannot start: INTENDANT_FAULT must be [^\n]*; got "nowhere:1:kill"\n$/);
  });
});

test('the fault that the environment names is armed', async () => {
  const script = `
    await module.main('the service', () => 'silent', async () => undefined);
    module.faultPoint('door.before_append');`;
  const { ended } = runInProcess('./index.ts', script, { INTENDANT_FAULT: 'door.before_append:1:kill' });
  expect(await ended).toMatchObject({ signal: 'SIGKILL' });
});

test('a service says where it listens and ends in order when it is told to', async () => {
  const { child, ended } = service(0);
  let lines = '';
  child.stdout.on('data', (chunk: Buffer) => {
    lines += chunk.toString();
    if (lines.includes('is ready')) child.kill('SIGTERM');
  });
  const { output, errors, signal, code } = await ended;
  expect(JSON.parse(output.split('\n')[0] ?? '')).toMatchObject({
    service: 'the service',
    msg: 'the service is ready',
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  });
  expect({ errors, ended: signal ?? code }).toEqual({ errors: '', ended: 'SIGTERM' });
});
