import { RunTokens } from '@intendant/credentials';
import { type PolicySet, readPolicyFiles } from '@intendant/rules';
import { Store } from '@intendant/store';
import type { ToolRegistry } from '@intendant/tools';
import { type DynamicModule, Module } from '@nestjs/common';
import { Admission } from './admission.js';
import type { PolicyConfig } from './config.js';
import { loadRegistry } from './load-registry.js';
import { Pausing } from './pausing.js';
import { operatorKeys, PolicyController, policyTools } from './policy.controller.js';
import { rulesOfFiles } from './rules-of-files.js';

const policyFiles = Symbol('policy files');

/** Needs Store and Bus from the application around it. */
@Module({})
export class PolicyModule {
  static forRoot(config: Pick<PolicyConfig, 'toolsDir' | 'policyDir' | 'tokenSecret' | 'operators'>): DynamicModule {
    return {
      module: PolicyModule,
      controllers: [PolicyController],
      providers: [
        { provide: policyTools, inject: [Store], useFactory: (store: Store) => loadRegistry(store, config.toolsDir) },
        { provide: operatorKeys, useValue: config.operators },
        { provide: RunTokens, useFactory: () => new RunTokens(config.tokenSecret) },
        {
          provide: policyFiles,
          inject: [policyTools],
          useFactory: (tools: ToolRegistry) =>
            readPolicyFiles(
              config.policyDir,
              tools.list().map(({ name }) => name),
            ),
        },
        {
          provide: Admission,
          inject: [Store, policyTools, policyFiles],
          useFactory: (store: Store, tools: ToolRegistry, set: PolicySet) =>
            new Admission(store, tools, rulesOfFiles(set)),
        },
        {
          provide: Pausing,
          inject: [Store, policyTools],
          useFactory: (store: Store, tools: ToolRegistry) => new Pausing(store, tools),
        },
      ],
    };
  }
}
