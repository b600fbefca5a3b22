/** One copy-paste example per surface; keys are read from run.json, so that they do not end up in a terminal log. */
export function examplesText({ url, natsUrl, upstreamUrl }) {
  const fromRunFile = (name) => `$(node -p "require('./.intendant/run.json').${name}")`;
  return `
Serving. Ctrl-C stops everything.

  HTTP    ${url}
  NATS    ${natsUrl}
  Ledger  ${upstreamUrl}/__ledger

Command line
  node bin/intendant.mjs run open --user ada --permission orders:read --wall-clock 1h
  node bin/intendant.mjs intents list
  node bin/intendant.mjs approvals list

HTTP
  curl -s ${url}/v1/runs -H "authorization: Bearer ${fromRunFile('serviceKey')}" \\
    -H 'content-type: application/json' \\
    -d '{"user":"ada","permissions":["orders:read"],"profile":"interactive","budgets":{"wallClock":"1h"}}'
  curl -s ${url}/v1/intents -H "authorization: Bearer ${fromRunFile('operatorKey')}"

NATS (public events as they happen)
  node --input-type=module -e "import { connect } from '@nats-io/transport-node'; \\
    const nats = await connect({ servers: '${natsUrl}' }); \\
    for await (const message of nats.subscribe('intendant.events.>')) console.log(message.string());"
`;
}
