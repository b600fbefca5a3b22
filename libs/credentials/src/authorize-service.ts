import { Refusal } from '@intendant/contracts';
import { bearer } from './bearer.js';
import type { KeyRing, ServiceIdentity } from './keys.js';

/** The trusted agent runtime behind an `Authorization` header. @throws Refusal `unauthenticated` */
export function authorizeService(
  services: KeyRing<ServiceIdentity>,
  authorization: string | undefined,
): ServiceIdentity {
  const key = bearer(authorization);
  const service = services.identify(key);
  if (service) return service;
  throw new Refusal(
    'unauthenticated',
    key === null
      ? 'A service key is needed: Authorization: Bearer <service key>.'
      : 'This service key is not known here; INTENDANT_SERVICE_KEYS of this service has to name it.',
  );
}
