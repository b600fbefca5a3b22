/**
 * Puts what each program of `dist/apps` loads into a few files, in place: a service loads two thousand modules, most of
 * them of libraries, and that takes three quarters of its start (docs/decisions/0019-bundled-programs.md). Needs a fresh
 * `nest build`.
 */
import fs from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './setup/paths.mjs';

const dist = path.join(root, 'dist');
const programs = fs.readdirSync(path.join(dist, 'apps'));
const entries = programs.map((name) => path.join('apps', name, 'src', 'main'));

const bundle = await rolldown({
  input: Object.fromEntries(entries.map((entry) => [entry, path.join(dist, `${entry}.js`)])),
  platform: 'node',
  // Loads its compiler from its own folder, when there is something to compile.
  external: ['jiti'],
  plugins: [{ name: 'source maps of our own', load: withMap }],
  onLog: (level, log) => {
    // Libraries look for others that they can do without, and notice when they are missing.
    const optional = log.code === 'UNRESOLVED_IMPORT' && log.id?.split(path.sep).includes('node_modules');
    if (level === 'warn' && !optional) throw new Error(log.message);
  },
});
fs.rmSync(path.join(dist, 'chunks'), { recursive: true, force: true });
await bundle.write({
  dir: dist,
  format: 'esm',
  sourcemap: true,
  // Nest and TypeORM know classes by their names.
  keepNames: true,
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
});
await bundle.close();

/**
 * So that a stack shows the TypeScript, not what was made of it. Libraries are left out: the first stack would cost a service
 * half a second and a hundred megabytes to read where each of their lines comes from.
 */
function withMap(file) {
  if (!/\.[cm]?js$/.test(file)) return null;
  const code = fs.readFileSync(file, 'utf8');
  const own = file.startsWith(dist) && fs.existsSync(`${file}.map`);
  return { code, map: own ? JSON.parse(fs.readFileSync(`${file}.map`, 'utf8')) : { mappings: '' } };
}
