import { ApprovalSeals, RunTokens } from '@intendant/credentials';
import { type PolicySet, readPolicyFiles } from '@intendant/rules';
import { type Logger, Loop } from '@intendant/runtime';
import { Store } from '@intendant/store';
import type { ToolRegistry } from '@intendant/tools';
import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Admission } from './admission.js';
import { checkServiceKeys } from './check-service-keys.js';
import type { PolicyConfig } from './config.js';
import { Granting } from './granting.js';
import { JudgingAgain } from './judging-again.js';
import { loadRegistry } from './load-registry.js';
import { RunOpening } from './opening.js';
import { Pausing } from './pausing.js';
import { operatorKeys, PolicyController, policyTools } from './policy.controller.js';
import { openingRulesOf, rulesOfFiles } from './rules-of-files.js';
import { RunsController, serviceKeys } from './runs.controller.js';

const policyFiles = Symbol('policy files');
const judgingLoop = Symbol('loop of judging again');

/** Needs Store and Bus from the application around it. */
@Module({})
export class PolicyModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(@Inject(judgingLoop) private readonly judging: Loop) {}

  static forRoot(
    config: Pick<
      PolicyConfig,
      | 'toolsDir'
      | 'policyDir'
      | 'tokenSecret'
      | 'previousSecrets'
      | 'approvalSecret'
      | 'previousApprovalSecrets'
      | 'services'
      | 'operators'
    >,
    logger: Logger,
  ): DynamicModule {
    const seals = new ApprovalSeals(config.approvalSecret, config.previousApprovalSecrets);
    return {
      module: PolicyModule,
      controllers: [PolicyController, RunsController],
      providers: [
        { provide: policyTools, inject: [Store], useFactory: (store: Store) => loadRegistry(store, config.toolsDir) },
        { provide: operatorKeys, useValue: config.operators },
        { provide: serviceKeys, useValue: config.services },
        { provide: RunTokens, useFactory: () => new RunTokens(config.tokenSecret, config.previousSecrets) },
        {
          provide: policyFiles,
          inject: [policyTools],
          useFactory: async (tools: ToolRegistry) => {
            const set = await readPolicyFiles(config.policyDir, namesOf(tools));
            checkServiceKeys(set, config.services);
            return set;
          },
        },
        {
          provide: Admission,
          inject: [Store, policyTools, policyFiles],
          useFactory: (store: Store, tools: ToolRegistry, set: PolicySet) =>
            new Admission(store, tools, rulesOfFiles(set), seals),
        },
        {
          provide: JudgingAgain,
          inject: [Store, policyTools, policyFiles],
          useFactory: (store: Store, tools: ToolRegistry, set: PolicySet) =>
            new JudgingAgain(store, tools, rulesOfFiles(set), seals, logger),
        },
        {
          provide: judgingLoop,
          inject: [JudgingAgain],
          useFactory: (judging: JudgingAgain) =>
            new Loop({ name: 'judge-again', idleMs: 1_000, logger, runOnce: () => judging.runOnce() }),
        },
        {
          provide: RunOpening,
          inject: [Store, RunTokens, policyTools, policyFiles],
          useFactory: (store: Store, tokens: RunTokens, tools: ToolRegistry, set: PolicySet) =>
            new RunOpening(store, tokens, openingRulesOf(set, namesOf(tools))),
        },
        {
          provide: Granting,
          inject: [Store, policyTools, policyFiles],
          useFactory: (store: Store, tools: ToolRegistry, set: PolicySet) =>
            new Granting(store, tools, openingRulesOf(set, namesOf(tools)).checkRestriction),
        },
        {
          provide: Pausing,
          inject: [Store, policyTools],
          useFactory: (store: Store, tools: ToolRegistry) => new Pausing(store, tools),
        },
      ],
    };
  }

  onApplicationBootstrap(): void {
    this.judging.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.judging.stop();
  }
}

function namesOf(tools: ToolRegistry): string[] {
  return tools.list().map(({ name }) => name);
}
