#!/usr/bin/env node
// The command line. It is part of the build, which this file only finds.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const main = path.join(root, 'dist', 'apps', 'cli', 'src', 'main.js');

if (fs.existsSync(main)) {
  await import(pathToFileURL(main).href);
} else {
  console.error(
    'The command line is not built yet. Run `npm start` (builds and starts everything) or `npm run build`.',
  );
  process.exitCode = 1;
}
