import { intentIdPattern, runIdPattern, tenantPattern, toolNamePattern } from '@intendant/contracts';
import { type StateName, transitions } from '@intendant/intent';
import { IsOptional } from 'class-validator';
import { IsCount, IsDuration, IsLine, IsOneOf, IsShape, IsSince } from './validators.js';

const largestPage = 200;
const defaultPage = 50;
const tenYears = 10 * 365 * 24 * 3_600_000;

/** Every state an intent can be in. */
export const states = Object.keys(transitions).filter((place) => place !== 'none') as StateName[];

export class ToolsQuery {
  @IsOptional()
  @IsLine(200)
  query?: string;

  @IsOptional()
  @IsShape(/^[a-z][a-z0-9_.]{0,63}$/, 'the first words of a tool name, such as payments')
  namespace?: string;
}

export class PageQuery {
  @IsOptional()
  @IsShape(intentIdPattern, 'the nextCursor of the page before')
  cursor?: string;

  @IsOptional()
  @IsCount(largestPage)
  limit?: string;
}

export class RunEventsQuery {
  @IsOptional()
  @IsLine(80)
  cursor?: string;

  @IsOptional()
  @IsCount(largestPage)
  limit?: string;
}

export class ResultQuery {
  @IsOptional()
  @IsShape(/^(?:\/.*)?$/s, 'a JSON Pointer such as /items/0; empty for all of the data')
  pointer?: string;

  @IsOptional()
  @IsShape(/^\d{1,9}$/, 'the nextCursor of the page before')
  cursor?: string;

  /** The tool says how many there may be, so whoever knows the tool says what would be right. */
  @IsOptional()
  @IsLine(80)
  limit?: string;
}

export class DecisionQuery extends PageQuery {
  @IsSince(tenYears)
  since!: string;

  @IsOptional()
  @IsShape(tenantPattern, 'the name of a tenant')
  tenant?: string;

  @IsOptional()
  @IsShape(toolNamePattern, 'the name of a tool')
  tool?: string;
}

export class IntentQuery extends PageQuery {
  @IsOptional()
  @IsOneOf(states)
  state?: StateName;

  @IsOptional()
  @IsShape(toolNamePattern, 'the name of a tool')
  tool?: string;

  @IsOptional()
  @IsOneOf(['true', 'false'])
  sandbox?: 'true' | 'false';

  @IsOptional()
  @IsShape(tenantPattern, 'the name of a tenant')
  tenant?: string;

  @IsOptional()
  @IsShape(runIdPattern, 'the id of a run')
  runId?: string;

  @IsOptional()
  @IsDuration(tenYears)
  olderThan?: string;
}

export function limitOf({ limit }: Pick<PageQuery, 'limit'>): number {
  return limit === undefined ? defaultPage : Number(limit);
}
