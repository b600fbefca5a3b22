import path from 'node:path';
import { fileURLToPath } from 'node:url';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));

/** A stack with what `npm start` serves: examples of the documentation are tried beside that. */
export const shipped = {
  toolsDir: path.join(examples, 'tools'),
  env: { INTENDANT_POLICY_DIR: path.join(examples, 'policy') },
} as const;
