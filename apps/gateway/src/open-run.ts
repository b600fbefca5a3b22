import { runLifetimes } from '@intendant/contracts';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsOptional } from 'class-validator';
import { parseDuration } from './duration.js';
import { IsDuration, IsFlag, IsLine, IsOneOf } from './validators.js';

const profiles = ['interactive', 'batch'] as const;
const defaultTtl = { interactive: runLifetimes.interactiveMs, batch: runLifetimes.batchMs } as const;

/** What a trusted agent runtime says about the run it opens. */
export class OpenRun {
  @ApiProperty({ description: 'On whose behalf the agent acts.', example: 'ada', maxLength: 200 })
  @IsLine(200)
  user: string;

  @ApiProperty({ description: 'What the run may use; tools name the permission they need.', example: ['orders:read'] })
  @IsArray({ message: 'a list' })
  @ArrayMaxSize(256, { message: 'at most 256 items' })
  @IsLine(200, { each: true })
  permissions: string[];

  @ApiProperty({ enum: profiles, description: 'Whether a person waits.' })
  @IsOneOf(profiles)
  profile: (typeof profiles)[number];

  @ApiPropertyOptional({ description: 'Limits the run to tools of this phase.', example: 'resolve' })
  @IsOptional()
  @IsLine(100)
  phase?: string | null;

  @ApiPropertyOptional({
    description: 'How long the run lives, 24 hours at most; without it one hour, or twelve for a batch.',
    examples: ['PT30M', '2h', '3600'],
  })
  @IsOptional()
  @IsDuration(runLifetimes.longestMs)
  ttl?: string | null;

  @ApiPropertyOptional({
    type: Boolean,
    description: "Every call of the run goes to its tool's sandbox; tools without one are refused.",
  })
  @IsOptional()
  @IsFlag()
  sandbox?: boolean | null;

  @ApiPropertyOptional({ description: 'Not supported yet: refused.', type: Object })
  @IsOptional()
  budgets?: unknown;
}

export function ttlOf({ ttl, profile }: OpenRun): number {
  return (ttl ? parseDuration(ttl) : null) ?? defaultTtl[profile];
}
