import { BusUnavailable } from './errors.js';

export type Credentials =
  | { readonly user: string; readonly pass: string }
  | { readonly token: string }
  | Record<string, never>;

/** What the NATS URL says; `servers` can be shown to anybody. */
export interface ServerList {
  readonly servers: readonly string[];
  /** For every server, also for those the cluster tells about later. */
  readonly credentials: Credentials;
}

/** Scheme, everything up to the last `@`, and host with port: a password that was not encoded must not look like a host. */
const shape = /^([a-z]+:\/\/)?(?:(.*)@)?((?:\[[\da-f:.]+\]|[^\s:/?#@[\]]+)(?::\d{1,5})?)\/?$/i;

/**
 * Reads `nats://host:port`, `nats://user:password@host:port` or `nats://token@host:port`, several with commas between;
 * user, password and token percent-encoded (RFC 3986). The client itself drops what is before the `@`.
 *
 * @throws BusUnavailable when it is something else; the message repeats nothing of it.
 */
export function parseServers(url: string): ServerList {
  const entries = url.split(',').map((entry) => entry.trim());
  const parsed = entries.filter((entry) => entry !== '').map(parseServer);
  const given = new Map(parsed.flatMap(({ userinfo }) => (userinfo ? [[userinfo, readCredentials(userinfo)]] : [])));
  if (given.size > 1) {
    throw new BusUnavailable('The servers of the NATS URL name different users; those of one cluster take the same.');
  }
  return { servers: parsed.map(({ server }) => server), credentials: [...given.values()][0] ?? {} };
}

function parseServer(entry: string): { server: string; userinfo: string | undefined } {
  const [, scheme = '', userinfo, host] = shape.exec(entry) ?? [];
  if (host === undefined) throw unreadable();
  return { server: scheme + host, userinfo };
}

function readCredentials(userinfo: string): Credentials {
  const colon = userinfo.indexOf(':');
  if (colon < 0) return { token: decode(userinfo) };
  return { user: decode(userinfo.slice(0, colon)), pass: decode(userinfo.slice(colon + 1)) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Without the cause, which may quote it.
    throw unreadable();
  }
}

function unreadable(): BusUnavailable {
  return new BusUnavailable(
    'The NATS URL cannot be read: it is `nats://user:password@host:port`, several with commas between. ' +
      'Percent-encode special characters of user and password, such as %2C for a comma and %25 for a percent sign.',
  );
}
