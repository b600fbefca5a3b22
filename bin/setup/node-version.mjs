import { StepFailure } from './step-failure.mjs';

const needed = [20, 19];

/** Refuses a Node that cannot load this project (ESM-only NestJS needs require(esm), in Node since 20.19). */
export function checkNodeVersion(version = process.versions.node, platform = process.platform) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
    throw new StepFailure(
      'node',
      `Node ${needed.join('.')} or later is needed, this is ${version}`,
      'install a newer Node and run the command again',
    );
  }
  if (platform === 'win32') {
    throw new StepFailure(
      'node',
      'the launcher needs process groups and signals, which Windows lacks',
      'use WSL, or `docker compose up`',
    );
  }
}
