export { createDatabase, type TestDatabase } from './database.js';
export { type H2Behaviour, h2, h2Frame, MisbehavingH2Server } from './misbehaving-h2-server.js';
export { type Behaviour, MisbehavingServer, response } from './misbehaving-server.js';
export { type ToolChanges, toolAt } from './misbehaving-tool.js';
export { type NatsServer, startNats } from './nats-server.js';
export { proposal, quickTerms } from './proposals.js';
export { type SelfSigned, selfSigned } from './self-signed.js';
export { type Cut, startTcpProxy, type TcpProxy } from './tcp-proxy.js';
