import { describeConformance } from './conformance.js';
import { needsReceipt, secrets } from './conformance-harness.js';
import { FakeUpstream } from './fake-upstream.js';
import { toolAt } from './misbehaving-tool.js';
import { until } from './scripted-upstream.js';

describeConformance('the fake', async () => {
  const adapter = new FakeUpstream({ validateOutput: needsReceipt, secrets, unreachable: ['nowhere'] });
  const { upstream } = toolAt('http://localhost');
  const poll = { method: 'GET', path: '/', headers: {}, executed: 'true', failed: 'false', receipt: null } as const;
  const real = { ...upstream, poll, credential: 'conformance' };
  return {
    adapter,
    script: adapter.script,
    real,
    sandbox: { ...real, credential: 'conformance_sandbox' },
    unreachable: { ...real, name: 'nowhere' },
    timeoutMs: 50,
    atRest: () => until(() => adapter.open === 0, 'nothing is open'),
    stop: async () => {},
  };
});
