import { OnRequest, type RpcRequest } from '@intendant/bus';
import { type OpenedRun, subjects } from '@intendant/contracts';
import { authorizeService, type KeyRing, type ServiceIdentity } from '@intendant/credentials';
import { Controller, Inject } from '@nestjs/common';
import { RunOpening } from './opening.js';

export const serviceKeys = Symbol('service keys');

/** What trusted agent runtimes ask for. */
@Controller()
export class RunsController {
  constructor(
    @Inject(serviceKeys) private readonly services: KeyRing<ServiceIdentity>,
    private readonly opening: RunOpening,
  ) {}

  /** Opens a run. Thousands may come at once; each waits for its turn. */
  @OnRequest(subjects.rpcOpenRun, { limit: 20_000 })
  async open({ payload, headers }: RpcRequest): Promise<OpenedRun> {
    return this.opening.open(authorizeService(this.services, headers.get('Authorization')), payload);
  }
}
