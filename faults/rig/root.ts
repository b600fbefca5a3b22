import path from 'node:path';
import { fileURLToPath } from 'node:url';

const above = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** The root of the project, whether this is the source or what was built from it. */
export const root = path.basename(above) === 'dist' ? path.dirname(above) : above;
