import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { addressOf, specialRange } from './egress-address.js';
import { canonicalHost, type EgressRules, matches } from './egress-rules.js';

/** A connection that the rules of the deployment forbid; nothing was sent. The message is safe to show to anybody. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
  readonly code = 'EGRESS_REFUSED';
}

/**
 * Where this process may call. Asked for every new connection: the host before its name is looked up, and every
 * address that the look-up gives before it is connected to, so a name that changes its address gains nothing.
 */
export class Egress {
  /** Anywhere; services never use it. */
  static readonly unlimited = new Egress({ hosts: null, special: null });

  constructor(
    private readonly rules: EgressRules,
    private readonly resolve: LookupFunction = systemLookup as LookupFunction,
  ) {}

  /** Why this host can never be called, whatever its name resolves to; null when it may. */
  refusal(host: string, port: number): string | null {
    const name = canonicalHost(host);
    const { hosts } = this.rules;
    if (hosts !== null && !hosts.some((rule) => matches(rule, name, port)))
      return `${name}:${port} must not be called: it is not in INTENDANT_EGRESS_HOSTS`;
    return isIP(name) === 0 ? null : this.#refusedAddress(name, name);
  }

  /** In place of `dns.lookup` for a connection: the same answer without the addresses that must not be called. */
  readonly lookup: LookupFunction = (host, options, callback) => {
    this.resolve(host, { ...options, all: true }, (error, found) => {
      if (error) {
        callback(error, []);
        return;
      }
      const addresses = found as LookupAddress[];
      const allowed = addresses.filter(({ address }) => this.#refusedAddress(host, address) === null);
      const [first] = allowed;
      if (first === undefined) {
        const why = addresses.map(({ address }) => this.#refusedAddress(host, address)).find((text) => text !== null);
        callback(why === undefined ? noAddress(host) : new EgressRefused(why), []);
      } else if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };

  /** The address itself is not named: it would map an inner network for whoever reads the text. */
  #refusedAddress(host: string, text: string): string | null {
    const { special } = this.rules;
    if (special === null) return null;
    const name = canonicalHost(host);
    const address = addressOf(text);
    const range = address === null ? 'no' : specialRange(address);
    if (range === null || special.hosts.some((rule) => matches(rule, name, null))) return null;
    const listed = special.ranges.some(
      ([base, bits]) => address !== null && base.kind() === address.kind() && address.match(base, bits),
    );
    return listed
      ? null
      : `${name} must not be called: it is at a ${words(range)} address, and INTENDANT_EGRESS_PRIVATE does not allow that`;
  }
}

function words(range: string): string {
  return range.replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase();
}

function noAddress(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`no address for ${host}`), { code: 'ENOTFOUND' });
}
