import { OnRequest, type RpcRequest } from '@intendant/bus';
import { subjects } from '@intendant/contracts';
import { authorizeOperator, type KeyRing, type OperatorIdentity } from '@intendant/credentials';
import { Controller, Inject } from '@nestjs/common';
import { Reconciler } from './reconciler.js';
import type { Swept } from './sweeper.js';

export const reconcilerOperators = Symbol('operator keys of the reconciler');

@Controller()
export class ReconcilerController {
  constructor(
    private readonly reconciler: Reconciler,
    @Inject(reconcilerOperators) private readonly operators: KeyRing<OperatorIdentity>,
  ) {}

  /** One pass of every sweeper at an operator's request. */
  @OnRequest(subjects.rpcReconcile)
  async reconcile({ headers }: RpcRequest): Promise<Record<string, Swept>> {
    authorizeOperator(this.operators, headers.get('Authorization'), 'operator');
    return this.reconciler.runOnce();
  }
}
