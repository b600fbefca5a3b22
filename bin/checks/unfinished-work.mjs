#!/usr/bin/env node
// A note to finish something later is never read again: finish it, or open an issue.
import fs from 'node:fs';
import path from 'node:path';
import { root } from '../setup/paths.mjs';

const places = ['apps', 'clients', 'libs', 'migrations', 'examples', 'test', 'bench', 'faults', 'bin', '.ci'];
// Written so that this file does not find itself.
const note = new RegExp(
  `\\b(${['TO', 'FIX'].map((start) => start + (start === 'TO' ? 'DO' : 'ME')).join('|')}|X{3})\\b`,
);

const files = places.flatMap((place) => {
  const directory = path.join(root, place);
  if (!fs.existsSync(directory)) return [];
  const entries = fs.readdirSync(directory, { recursive: true, withFileTypes: true });
  const written = entries.filter(
    (entry) => entry.isFile() && !entry.parentPath.split(path.sep).includes('node_modules'),
  );
  return written.map((entry) => path.join(entry.parentPath, entry.name));
});

for (const file of files) {
  for (const [index, line] of fs.readFileSync(file, 'utf8').split('\n').entries()) {
    if (!note.test(line)) continue;
    console.error(`${path.relative(root, file)}:${index + 1}: ${line.trim()}`);
    process.exitCode = 1;
  }
}
