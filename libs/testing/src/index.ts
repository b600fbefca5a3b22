export { describeConformance } from './conformance.js';
export {
  type ConformanceHarness,
  lookupReading,
  maxAnswerBytes,
  needsReceipt,
  pollReading,
  secrets,
  toolOf,
} from './conformance-harness.js';
export { createDatabase, type TestDatabase } from './database.js';
export { FakeUpstream, type FakeUpstreamOptions } from './fake-upstream.js';
export { type Meddler, type Passed, type Reply, startMeddler } from './meddler.js';
export { type H2Behaviour, h2, h2Frame, MisbehavingH2Server } from './misbehaving-h2-server.js';
export { type Behaviour, MisbehavingServer, response } from './misbehaving-server.js';
export { type ToolChanges, toolAt } from './misbehaving-tool.js';
export { type NatsServer, natsBinary, startNats } from './nats-server.js';
export { approvalRequest, proposal, quickTerms } from './proposals.js';
export {
  type CallBehaviour,
  type Conduct,
  type LookupBehaviour,
  type PollBehaviour,
  type Reaction,
  ScriptedUpstream,
  type Seen,
  type SeenCall,
  type SeenQuestion,
  tooLarge,
  until,
} from './scripted-upstream.js';
export { type SelfSigned, selfSigned } from './self-signed.js';
export { type Cut, startTcpProxy, type TcpProxy } from './tcp-proxy.js';
