// Stands between the dispatcher and an MCP server on stdio: node between.mjs <folder> <program> [arguments ...]
// Writes the name of each tool that is called to <folder>/calls, and kills the server once when <folder>/order says so:
// "before the call" or "before the answer" of write_file, or "half-way", which leaves half of what it wrote.
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [folder, program, ...args] = process.argv.slice(2);
const server = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
server.on('exit', (code) => process.exit(code ?? 1));
process.stdin.on('end', () => server.stdin.end());

/** Files that are written, by the id of the request. */
const writes = new Map();

function ordered(what) {
  try {
    if (readFileSync(`${folder}/order`, 'utf8') !== what) return false;
    rmSync(`${folder}/order`);
    return true;
  } catch {
    return false;
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'tools/call') appendFileSync(`${folder}/calls`, `${params.name}\n`);
  if (params?.name === 'write_file') {
    writes.set(id, `${args.at(-1)}/${params.arguments.path}`);
    if (ordered('before the call')) {
      server.kill('SIGKILL');
      return;
    }
  }
  server.stdin.write(`${line}\n`);
});

createInterface({ input: server.stdout }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  const written = method === undefined ? writes.get(id) : undefined;
  const cut = written !== undefined && ordered('half-way');
  if (cut) truncateSync(written, 5);
  if (cut || (written !== undefined && ordered('before the answer'))) server.kill('SIGKILL');
  else process.stdout.write(`${line}\n`);
});
