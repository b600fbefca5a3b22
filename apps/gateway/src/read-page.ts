import { intentOfHandle, type PageRequest, pageOf, Refusal, type ResultPage } from '@intendant/contracts';
import type { Intent } from '@intendant/intent';
import type { Store } from '@intendant/store';
import type { Reader } from './authentication.js';
import { visibleIntent } from './tenants.js';

/** A page of the data behind a handle. @throws Refusal also for handles of others, as for those that are none */
export async function readPage(
  store: Store,
  reader: Reader,
  handle: string,
  request: PageRequest,
): Promise<ResultPage> {
  return pageOf(await behind(store, reader, handle), request);
}

async function behind(store: Store, reader: Reader, handle: string): Promise<Intent> {
  try {
    return await visibleIntent(store, reader, intentOfHandle(handle) ?? '');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const right = reader.kind === 'agent' ? 'a result of this run' : 'a result of your tenant';
    throw new Refusal('not_found', `There is no such result: a handle is as ${right} gives it, such as res_01J….`);
  }
}
