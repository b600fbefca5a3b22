import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** What IANA has given out as global unicast; everything outside is special, also what no list names yet. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
/** The well-known prefix of NAT64 (RFC 6052, 2.1): the network translates it to the IPv4 address at its end. */
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * The address that a packet ends at: an IPv4 address in the clothes of IPv6 (mapped, or behind NAT64) is itself.
 * Null for a text that is no address.
 */
export function addressOf(text: string): Address | null {
  const [written = ''] = text.split('%', 1);
  if (isIP(written) === 0) return null;
  // ipaddr.js takes `::10.0.0.1` for `::ffff:10.0.0.1`; the URL parser writes both in hexadecimal.
  const address = ipaddr.process(isIP(written) === 6 ? new URL(`http://[${written}]`).hostname.slice(1, -1) : written);
  return address instanceof ipaddr.IPv6 && address.match(nat64)
    ? new ipaddr.IPv4(address.toByteArray().slice(12))
    : address;
}

/**
 * What kind of address that is not global, such as `private`, `loopback` or `linkLocal`; null for one of the public
 * internet. 6to4 and Teredo, which hide another address, are not global (IANA special-purpose registries).
 */
export function specialRange(address: Address): string | null {
  const range = address.range();
  if (range !== 'unicast') return range;
  return address instanceof ipaddr.IPv6 && !address.match(globalUnicast) ? 'reserved' : null;
}
