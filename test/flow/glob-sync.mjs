/**
 * For `node --import`: lets `@modelcontextprotocol/conformance` start on Node 20. It imports `globSync` of `fs`, which came
 * with Node 22, for a command that is not run here.
 */
import fs from 'node:fs';
import { register } from 'node:module';

const asModule = (source) => `data:text/javascript,${encodeURIComponent(source)}`;
const withGlobSync = asModule(`
  export * from 'node:fs';
  export const globSync = () => { throw new Error('globSync needs Node 22'); };
`);
const hooks = asModule(`
  export const resolve = (specifier, context, next) =>
    specifier === 'fs' && context.parentURL?.includes('/@modelcontextprotocol/conformance/')
      ? { url: ${JSON.stringify(withGlobSync)}, shortCircuit: true }
      : next(specifier, context);
`);
if (!('globSync' in fs)) register(hooks);
