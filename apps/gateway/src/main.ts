import { logLevel, main } from '@intendant/runtime';
import { serve } from './serve.js';

await main(
  'gateway',
  () => logLevel(process.env),
  (logger) => serve(process.env, logger),
);
