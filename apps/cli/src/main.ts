import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { run } from './program.js';

const manifest = new URL('../../../../package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  directory: process.cwd(),
  version,
  reconciler: fileURLToPath(new URL('../../reconciler/src/main.js', import.meta.url)),
  callWorker: fileURLToPath(new URL('../../../libs/certify/src/call-worker.js', import.meta.url)),
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  input: () => text(process.stdin),
});
