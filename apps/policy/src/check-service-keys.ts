import type { KeyRing, ServiceIdentity } from '@intendant/credentials';
import type { PolicySet } from '@intendant/rules';
import { ConfigError } from '@intendant/runtime';

/**
 * What is said of a service key that nobody has would bind nobody. Where no keys are set, no run can be opened, and nothing is
 * compared.
 *
 * @throws ConfigError
 */
export function checkServiceKeys(set: PolicySet, services: KeyRing<ServiceIdentity>): void {
  const known = services.identities;
  if (known.length === 0) return;
  for (const { tenant, serviceKeys } of set.files) {
    for (const name of serviceKeys.keys()) {
      const ofTenant = known.filter((each) => tenant === null || each.tenant === tenant);
      if (ofTenant.some((each) => each.name === name)) continue;
      const place = tenant === null ? 'the policy file of the deployment' : `the policy file of tenant ${tenant}`;
      const there = ofTenant.map((each) => each.name).join(', ') || 'none';
      throw new ConfigError(
        `${place} names the service key ${name}, which INTENDANT_SERVICE_KEYS does not have there (it has: ${there})`,
      );
    }
  }
}
