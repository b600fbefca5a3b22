import type { ToolDefinition } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import type { DataSource } from 'typeorm';
import { ToolContractRow } from './entities.js';

export interface RememberedContract {
  readonly contract: JsonObject;
  readonly digest: string;
}

/** What each tool's contract was when its version was first loaded; a version never changes its meaning. */
export class ToolContracts {
  constructor(private readonly dataSource: DataSource) {}

  /** Remembers the contract if this version is new, and returns the one remembered. */
  async remember(tool: ToolDefinition): Promise<RememberedContract> {
    const { name, version, contractDigest, contract } = tool;
    await this.dataSource.query(
      'INSERT INTO tool_contracts (name, version, digest, contract) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
      [name, version, contractDigest, JSON.stringify(contract)],
    );
    const row = await this.dataSource.getRepository(ToolContractRow).findOneByOrFail({ name, version });
    return { contract: row.contract as JsonObject, digest: row.digest };
  }
}
