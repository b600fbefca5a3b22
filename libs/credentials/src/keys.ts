import { createHash, timingSafeEqual } from 'node:crypto';
import { groupPattern, tenantPattern } from '@intendant/contracts';
import { ConfigError } from '@intendant/runtime';

/** A trusted agent runtime: may open and close runs of its tenant. */
export interface ServiceIdentity {
  readonly name: string;
  readonly tenant: string;
}

export const roles = ['viewer', 'approver', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

/** A person. `tenant` is `*` for those who see every tenant. */
export interface OperatorIdentity {
  readonly name: string;
  readonly tenant: string;
  readonly roles: readonly Role[];
  /** Whom approvals of a tool may be reserved for. */
  readonly groups: readonly string[];
}

interface Entry<T> {
  readonly digest: Buffer;
  readonly identity: T;
}

/** Keys that are known only by their SHA-256; a presented key is compared in constant time with every one of them. */
export class KeyRing<T> {
  constructor(private readonly entries: readonly Entry<T>[]) {}

  get size(): number {
    return this.entries.length;
  }

  /** Whom there are keys of. */
  get identities(): readonly T[] {
    return this.entries.map(({ identity }) => identity);
  }

  identify(key: string | null): T | null {
    const digest = createHash('sha256')
      .update(key ?? '')
      .digest();
    let found: T | null = null;
    for (const entry of this.entries) if (timingSafeEqual(entry.digest, digest) && key !== null) found = entry.identity;
    return found;
  }
}

const serviceShape = /^([A-Za-z0-9._-]+)@([^=:]+)=([0-9a-f]{64})$/;
const operatorShape = /^([A-Za-z0-9._-]+)@([^=:]+):([a-z+]+)(?:\/([^=]*))?=([0-9a-f]{64})$/;

/** `INTENDANT_SERVICE_KEYS`: `<name>@<tenant>=<sha256 of the key, hex>`, separated by commas. */
export function parseServiceKeys(text: string): KeyRing<ServiceIdentity> {
  return new KeyRing(
    items(text).map((item) => {
      const [, name, tenant, digest] = serviceShape.exec(item) ?? [];
      if (!name || !tenant || !digest || !tenantPattern.test(tenant)) {
        throw new ConfigError(
          `INTENDANT_SERVICE_KEYS: "${blurred(item)}" is not <name>@<tenant>=<sha256 of the key, 64 hex digits>`,
        );
      }
      return { digest: Buffer.from(digest, 'hex'), identity: { name, tenant } };
    }),
  );
}

/**
 * `INTENDANT_OPERATOR_KEYS`: `<name>@<tenant or *>:<role+role>[/<group+group>]=<sha256 of the key, hex>`, separated by
 * commas.
 */
export function parseOperatorKeys(text: string): KeyRing<OperatorIdentity> {
  return new KeyRing(
    items(text).map((item) => {
      const [, name, tenant, list, groupList, digest] = operatorShape.exec(item) ?? [];
      const given = (list ?? '').split('+');
      const known = roles.filter((role) => given.includes(role));
      const sound =
        name && tenant && digest && (tenant === '*' || tenantPattern.test(tenant)) && known.length === given.length;
      if (!sound) {
        throw new ConfigError(
          `INTENDANT_OPERATOR_KEYS: "${blurred(item)}" is not <name>@<tenant or *>:<roles of ${roles.join(', ')} joined by +>[/<groups joined by +>]=<sha256 of the key, 64 hex digits>`,
        );
      }
      const groups = groupList === undefined ? [] : groupList.split('+');
      const wrong = groups.find((group) => !groupPattern.test(group));
      if (wrong !== undefined) {
        throw new ConfigError(
          `INTENDANT_OPERATOR_KEYS: "${blurred(item)}" has the group "${wrong}"; must be lower-case words of letters, digits, - and _, such as payments, joined by +`,
        );
      }
      return { digest: Buffer.from(digest, 'hex'), identity: { name, tenant, roles: known, groups } };
    }),
  );
}

function items(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Without what might be a key that somebody forgot to hash. */
function blurred(item: string): string {
  return item.replace(/=.*/, '=…');
}
