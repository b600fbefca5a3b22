import { openRunLimits as limits, restrictedToolPattern } from '@intendant/contracts';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsOptional } from 'class-validator';
import {
  IsBudgetCost,
  IsBudgetCount,
  IsDuration,
  IsFlag,
  IsLine,
  IsOneOf,
  IsProse,
  IsShape,
  IsSingle,
} from './validators.js';

const profiles = ['interactive', 'batch'] as const;
const durations = ['PT30M', '2h', '3600'];

/** The most that a run may do. What is left out is as the profile has it; nothing goes beyond the ceiling of the key. */
export class BudgetsRequest {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    description: 'Requests to upstreams, repeated ones counted each time. Without it 20, or 100 for a batch.',
  })
  @IsOptional()
  @IsBudgetCount()
  calls?: number | null;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, description: 'Intents of tools that write or destroy.' })
  @IsOptional()
  @IsBudgetCount()
  mutating?: number | null;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, description: 'Of these, those that destroy. Without it 1.' })
  @IsOptional()
  @IsBudgetCount()
  destructive?: number | null;

  @ApiPropertyOptional({
    type: 'number',
    minimum: 0,
    description: 'Sum of what the tools say their calls cost, in units, with at most six decimals.',
  })
  @IsOptional()
  @IsBudgetCost()
  cost?: number | null;

  @ApiPropertyOptional({
    type: String,
    description: 'How long it may go on proposing, at most its ttl. Without it two minutes, or an hour for a batch.',
    examples: durations,
  })
  @IsOptional()
  @IsDuration(limits.longestMs)
  wallClock?: string | null;
}

/** What the arguments of some tools have to satisfy. */
export class RestrictionRequest {
  @ApiProperty({ description: 'Names of tools, or namespaces.', example: ['payments.refund.create', 'mail.*'] })
  @IsArray({ message: 'a list' })
  @ArrayMinSize(1, { message: 'at least 1 item' })
  @ArrayMaxSize(limits.toolsOfRestriction, { message: `at most ${limits.toolsOfRestriction} items` })
  @IsShape(restrictedToolPattern, 'the name of a tool, or a namespace such as payments.*', { each: true })
  tools: string[];

  @ApiProperty({ description: 'CEL over `args`, `session` and `tool`: true where the call is within bounds.' })
  @IsProse(limits.allowLength)
  allow: string;

  @ApiProperty({ description: 'For the agent: what is within bounds.' })
  @IsProse(limits.messageLength)
  message: string;
}

/** What a trusted agent runtime says about the run it opens. */
export class OpenRun {
  @ApiProperty({ description: 'On whose behalf the agent acts.', example: 'ada', maxLength: limits.userLength })
  @IsLine(limits.userLength)
  user: string;

  @ApiProperty({ description: 'What the run may use; tools name the permission they need.', example: ['orders:read'] })
  @IsArray({ message: 'a list' })
  @ArrayMaxSize(limits.permissions, { message: `at most ${limits.permissions} items` })
  @IsLine(limits.permissionLength, { each: true })
  permissions: string[];

  @ApiProperty({ enum: profiles, description: 'Whether a person waits.' })
  @IsOneOf(profiles)
  profile: (typeof profiles)[number];

  @ApiPropertyOptional({ type: String, description: 'Limits the run to tools of this phase.', example: 'resolve' })
  @IsOptional()
  @IsLine(limits.phaseLength)
  phase?: string | null;

  @ApiPropertyOptional({
    type: String,
    description:
      'How long the run lives, 24 hours at most; without it one hour, or twelve for a batch, or as long as its wall clock.',
    examples: durations,
  })
  @IsOptional()
  @IsDuration(limits.longestMs)
  ttl?: string | null;

  @ApiPropertyOptional({
    type: Boolean,
    description: "Every call of the run goes to its tool's sandbox; tools without one are refused.",
  })
  @IsOptional()
  @IsFlag()
  sandbox?: boolean | null;

  @ApiPropertyOptional({ type: BudgetsRequest, description: 'The most that the run may do.' })
  @IsOptional()
  @IsSingle('an object with calls, mutating, destructive, cost or wallClock')
  @Type(() => BudgetsRequest)
  budgets?: BudgetsRequest | null;

  @ApiPropertyOptional({ type: [RestrictionRequest], description: 'Bounds of the arguments of some tools.' })
  @IsOptional()
  @IsArray({ message: 'a list' })
  @ArrayMaxSize(limits.restrictions, { message: `at most ${limits.restrictions} items` })
  @IsSingle('an object with tools, allow and message', { each: true })
  @Type(() => RestrictionRequest)
  restrict?: RestrictionRequest[] | null;
}
