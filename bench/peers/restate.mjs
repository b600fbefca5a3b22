import { createServer } from 'node:http2';
import { callUpstream, committed, ready } from './intents.mjs';

/**
 * Restate: a service of one handler with one recorded step. The load goes to the ingress of the server, which calls this
 * service over HTTP/2 and keeps the result for the idempotency key that it came with.
 */
// The SDK wants this of Node.js 22.
Promise.withResolvers ??= () => {
  const deferred = {};
  deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
  return deferred;
};
process.env.RESTATE_LOGGING = 'ERROR';
const { createEndpointHandler, service } = await import('@restatedev/restate-sdk');

const intents = service({
  name: 'intents',
  handlers: {
    submit: async (context, intent) => committed(intent.id, await context.run('call', () => callUpstream(intent))),
  },
});
const server = createServer(createEndpointHandler({ services: [intents] }));
server.listen(0, '127.0.0.1', () => ready(server.address().port));
