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
  readonly #public: URL | null;

  /** `publicUrl`: base URL under which callers reach the gateway; null: by its address only. */
  constructor(readonly publicUrl: string | null) {
    this.#public = publicUrl === null ? null : new URL(publicUrl);
  }

  /** Base URL of the gateway, as this caller knows it. */
  baseUrl({ headers }: FastifyRequest): string {
    return this.publicUrl ?? `http://${headers.host}`;
  }

  /** @throws Refusal `forbidden` */
  check({ headers: { host, origin } }: FastifyRequest): void {
    const name = hostShape.test(host ?? '') ? urlOf(`http://${host}`)?.hostname : undefined;
    if (name === undefined || !(isLoopback(name) || isAddress(name) || name === this.#public?.hostname)) {
      throw new Refusal(
        'forbidden',
        `The header Host names ${shown(host)}, which is not this gateway. Reach it by its address, or set INTENDANT_PUBLIC_URL to the URL that callers use.`,
      );
    }
    if (origin === undefined || this.isOwn(origin, `${host}`, name)) return;
    throw new Refusal(
      'forbidden',
      `The header Origin names ${shown(origin)}: pages of other sites, and of other ports, may not speak to this gateway.`,
    );
  }

  /** An address has no pages but those of its own port; a name has those of the public URL. */
  private isOwn(origin: string, host: string, name: string): boolean {
    const from = urlOf(origin);
    if (from === null || !/^https?:$/.test(from.protocol)) return false;
    if (from.origin === this.#public?.origin) return true;
    const here = urlOf(`${from.protocol}//${host}`);
    if (here === null || name === this.#public?.hostname || from.port !== here.port) return false;
    return from.hostname === here.hostname || (isLoopback(from.hostname) && isLoopback(here.hostname));
  }
}

function urlOf(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
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
