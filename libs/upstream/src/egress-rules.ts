import { isIP } from 'node:net';
import { ConfigError, type Environment, type Setting, setting } from '@intendant/runtime';
import ipaddr from 'ipaddr.js';
import { type Address, addressOf } from './egress-address.js';

/** A host by name or address, or every host below a domain. */
export interface HostRule {
  readonly name: string;
  /** `*.name`: every host below it, and not itself. */
  readonly below: boolean;
  /** Null: every port. */
  readonly port: number | null;
}

export interface EgressRules {
  /** Hosts that may be called; null: all. */
  readonly hosts: readonly HostRule[] | null;
  /** What may be at an address that is not of the public internet; null: everything. */
  readonly special: { readonly ranges: readonly [Address, number][]; readonly hosts: readonly HostRule[] } | null;
}

/** @throws ConfigError */
export function readEgressRules(env: Environment): EgressRules {
  const hosts = entries(env, 'INTENDANT_EGRESS_HOSTS');
  const special = entries(env, 'INTENDANT_EGRESS_PRIVATE');
  return {
    hosts: hosts.length === 0 ? null : hosts.map(readHost),
    special: {
      ranges: special.filter(isRange).map(readRange),
      hosts: special.filter((entry) => !isRange(entry)).map(readName),
    },
  };
}

/** A host as rules and addresses are compared: lower case, without brackets and final dot, addresses in one form. */
export function canonicalHost(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  const address = isIP(bare) === 0 ? null : addressOf(bare);
  return address === null ? bare.toLowerCase().replace(/\.$/, '') : address.toString();
}

export function matches(rule: HostRule, host: string, port: number | null): boolean {
  if (rule.port !== null && rule.port !== port) return false;
  return rule.below ? host.endsWith(`.${rule.name}`) : host === rule.name;
}

function entries(env: Environment, name: Setting): string[] {
  const list = setting(env, name)?.split(',') ?? [];
  return list.map((entry) => entry.trim()).filter((entry) => entry !== '');
}

function readHost(entry: string): HostRule {
  const [, stars = '', host = '', digits] = /^(\*\.)?(.*?)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  // A bare IPv6 address ends in something that looks like a port.
  if (isIP(entry) === 6) return { name: canonicalHost(entry), below: false, port: null };
  const name = hostName(host);
  const port = digits === undefined ? null : Number(digits);
  const address = name !== null && isIP(name) !== 0;
  if (name === null || (port !== null && (port === 0 || port > 65_535)) || (address && stars !== '')) {
    const right =
      'must be a host such as api.example.com, *.example.com, 192.0.2.7 or [2001:db8::7], each also with :port';
    throw new ConfigError(
      `INTENDANT_EGRESS_HOSTS: "${entry}" is not a host; ${right}. Unset allows every public host.`,
    );
  }
  return { name, below: stars !== '', port };
}

/** The host as URLs carry it, with names of other scripts in their ASCII form; null when it is none. */
function hostName(text: string): string | null {
  const url = `http://${text}`;
  if (!/^(?:[^\s/?#@:[\]*\\%]+|\[[0-9a-fA-F:.]+\])$/.test(text) || !URL.canParse(url)) return null;
  return canonicalHost(new URL(url).hostname);
}

function isRange(entry: string): boolean {
  return isIP(entry.split('/', 1)[0] ?? '') !== 0;
}

function readRange(entry: string): [Address, number] {
  const cidr = entry.includes('/') ? entry : `${entry}/${isIP(entry) === 4 ? 32 : 128}`;
  const range = ipaddr.isValidCIDR(cidr) ? ipaddr.parseCIDR(cidr) : null;
  // Such addresses are compared as what they stand for.
  if (range === null || (range[0] instanceof ipaddr.IPv6 && range[0].isIPv4MappedAddress())) {
    const right = 'must be a range such as 10.0.0.0/8 or fd00::/8, with IPv4 addresses written as such';
    throw new ConfigError(`INTENDANT_EGRESS_PRIVATE: "${entry}" is not a range of addresses; ${right}`);
  }
  return range;
}

function readName(entry: string): HostRule {
  const below = entry.startsWith('*.');
  const name = hostName(below ? entry.slice(2) : entry);
  if (name === null || isIP(name) !== 0) {
    const right = 'must be a range such as 10.0.0.0/8, or a host such as ledger.internal or *.internal, without port';
    throw new ConfigError(`INTENDANT_EGRESS_PRIVATE: "${entry}" is neither a range nor a host; ${right}`);
  }
  return { name, below, port: null };
}
