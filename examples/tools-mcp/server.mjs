// A small MCP server on stdio that keeps notes in a file. It honours keys: a second call with the key of a first one
// changes nothing and answers the same.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

const file = process.env['NOTES_FILE'] ?? 'notes.jsonl';

/** Read anew each time: several servers may share the file. */
function notes() {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const tools = {
  add_note: ({ text }, key) => {
    const known = notes().find((note) => note.reference === key);
    if (known !== undefined) return known;
    const note = { note_id: `note-${notes().length + 1}`, reference: key, text };
    mkdirSync(dirname(file), { recursive: true });
    appendFileSync(file, `${JSON.stringify(note)}\n`);
    return note;
  },
  find_notes: ({ reference }) => ({ notes: notes().filter((note) => note.reference === reference) }),
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
