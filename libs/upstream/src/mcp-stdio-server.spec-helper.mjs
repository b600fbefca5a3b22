// An MCP server on stdio, made with the official SDK, that asks the given URL what to do with each call.
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

const control = process.argv[2] ?? '';
const secret = process.env['INTENDANT_CREDENTIAL'];

const server = new Server({ name: 'scripted', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler('tools/list', () => ({
  tools: ['act', 'find', 'follow'].map((name) => ({ name, inputSchema: { type: 'object' } })),
}));
server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
  const asked = {
    name: params.name,
    args: params.arguments,
    meta: mcpReq._meta ?? {},
    headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` },
    path: new URL(control).pathname,
  };
  const response = await fetch(control, { method: 'POST', body: JSON.stringify(asked), signal: mcpReq.signal });
  const { kind, data } = await response.json();
  switch (kind) {
    case 'refuse':
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'no');
    case 'error':
      return { isError: true, content: [{ type: 'text', text: 'broken' }] };
    case 'garbage':
      return { content: [{ type: 'text', text: '<html>' }] };
    case 'too_large':
      return { content: [], structuredContent: { id: 'x'.repeat(200_000) } };
    case 'die':
      return process.exit(1);
    default:
      return { content: [], structuredContent: data };
  }
});
await server.connect(new StdioServerTransport());
