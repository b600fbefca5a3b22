import { isIP } from 'node:net';
import { Refusal } from '@intendant/contracts';
import type { FastifyRequest } from 'fastify';

/** Of a header `Host`: a name or an address, and a port. */
const hostShape = /^[\w.:[\]-]+$/;

/**
 * Keeps pages of other sites from speaking to the gateway through the browser of somebody who can reach it, also where
 * their name was made to point here (DNS rebinding). Programs send no `Origin`, and their `Host` is what they were told.
 */
export class Hosts {
  readonly #own: string | null;

  /** `publicUrl`: base URL under which callers reach the gateway; null: by its address only. */
  constructor(readonly publicUrl: string | null) {
    this.#own = publicUrl === null ? null : new URL(publicUrl).hostname;
  }

  /** Base URL of the gateway, as this caller knows it. */
  baseUrl({ headers }: FastifyRequest): string {
    return this.publicUrl ?? `http://${headers.host}`;
  }

  /** @throws Refusal `forbidden` */
  check({ headers }: FastifyRequest): void {
    const host = hostShape.test(headers.host ?? '') ? hostnameOf(`http://${headers.host}`) : null;
    if (host === null || !(isLoopback(host) || isAddress(host) || host === this.#own)) {
      throw new Refusal(
        'forbidden',
        `The header Host names ${shown(headers.host)}, which is not this gateway. Reach it by its address, or set INTENDANT_PUBLIC_URL to the URL that callers use.`,
      );
    }
    if (headers.origin === undefined) return;
    const origin = hostnameOf(headers.origin);
    if (origin !== null && (origin === host || origin === this.#own || (isLoopback(origin) && isLoopback(host))))
      return;
    throw new Refusal(
      'forbidden',
      `The header Origin names ${shown(headers.origin)}: pages of other sites may not speak to this gateway.`,
    );
  }
}

function hostnameOf(url: string): string | null {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  return parsed === null || parsed.hostname === '' ? null : parsed.hostname;
}

/** No name leads to it, so none can be made to lead here. */
function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) > 0;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
}

function shown(header: string | undefined): string {
  return header === undefined || header === '' ? 'nothing' : JSON.stringify(header.slice(0, 100));
}
