// A small MCP server on stdio that keeps notes. It honours keys: a second call with the key of a first one changes
// nothing and answers the same. Notes live as long as the process.
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

/** Notes by the key they were added under. */
const notes = new Map();

const tools = {
  add_note: ({ text }, key) => {
    const known = notes.get(key);
    if (known !== undefined) return known;
    const note = { note_id: `note-${notes.size + 1}`, text };
    notes.set(key, note);
    return note;
  },
  find_notes: ({ reference }) => ({ notes: notes.has(reference) ? [notes.get(reference)] : [] }),
};

const server = new Server({ name: 'notes', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler('tools/list', () => ({
  tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })),
}));
server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
  const tool = tools[params.name];
  if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${params.name}`);
  return { content: [], structuredContent: tool(params.arguments ?? {}, mcpReq._meta?.['intendant/key']) };
});
await server.connect(new StdioServerTransport());
