import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { applicationRole, migrate, migrations } from '@intendant/migrations';
import type { Machine } from '../machine.js';
import { PostgresServer, postgresEnvironment, query } from './postgres-server.js';

const run = promisify(execFile);
/** In the data directory, so that it comes along when that is copied. */
const passwordFile = 'rig-password';
export const database = 'intendant';

/**
 * Makes `directory` a copy of a data directory that is made once per home: initdb and migrations take seconds, a copy
 * takes a fraction of one. Returns the password of its accounts, that of the owner and that of the services.
 */
export async function copyTemplate(machine: Machine, directory: string): Promise<string> {
  const template = await ensureTemplate(machine);
  makePrivate(machine, directory);
  await as(machine, 'cp', ['-a', `${template}/.`, directory]);
  return readFileSync(path.join(directory, passwordFile), 'utf8').trim();
}

const making = new Map<string, Promise<string>>();

function ensureTemplate(machine: Machine): Promise<string> {
  const digest = createHash('sha256').update(migrations.join()).digest('hex').slice(0, 12);
  const template = path.join(machine.postgresHome, `template-${digest}`);
  if (existsSync(template)) return Promise.resolve(template);
  const started = making.get(template) ?? make(machine, template).finally(() => making.delete(template));
  making.set(template, started);
  return started;
}

async function make(machine: Machine, template: string): Promise<string> {
  // Under another name, so that one cut short is never taken for a finished one.
  const partial = `${template}.${process.pid}.partial`;
  makePrivate(machine, partial);
  try {
    await initialise(machine, partial);
    rmSync(`${partial}.log`, { force: true });
    if (existsSync(template)) return template;
    renameSync(partial, template);
  } catch (error) {
    // Another process was faster; its template is as good.
    if (!existsSync(template)) throw error;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return template;
}

async function initialise(machine: Machine, directory: string): Promise<void> {
  const password = randomBytes(16).toString('hex');
  const pwfile = `${directory}.password`;
  writePrivate(machine, pwfile, password);
  const args = ['-D', directory, '-U', 'postgres', '-A', 'scram-sha-256', '--pwfile', pwfile, '-E', 'UTF8'];
  try {
    await as(machine, path.join(machine.postgresBin, 'initdb'), [...args, '--no-locale', '--no-sync']);
  } finally {
    rmSync(pwfile);
  }
  writePrivate(machine, path.join(directory, passwordFile), password);
  const server = new PostgresServer(machine, directory, password, `${directory}.log`);
  await server.startSomewhere();
  try {
    await query(server.url('postgres'), `CREATE DATABASE ${database}`);
    await migrate(server.url(database), { name: applicationRole, password });
  } finally {
    await server.stop();
  }
}

/** An empty directory that only the account of PostgreSQL may enter, as PostgreSQL demands. */
function makePrivate({ postgresAccount }: Machine, directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (postgresAccount) chownSync(directory, postgresAccount.uid, postgresAccount.gid);
}

function writePrivate({ postgresAccount }: Machine, file: string, content: string): void {
  writeFileSync(file, `${content}\n`, { mode: 0o600 });
  if (postgresAccount) chownSync(file, postgresAccount.uid, postgresAccount.gid);
}

async function as({ postgresAccount }: Machine, command: string, args: readonly string[]): Promise<void> {
  await run(command, args, { cwd: '/', env: postgresEnvironment(), ...postgresAccount });
}
