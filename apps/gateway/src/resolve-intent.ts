import type { RecordedEvent } from '@intendant/store';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { IsLine, IsOneOf, IsProse } from './validators.js';

const outcomes = ['executed', 'not_executed'] as const;

/** What a person found out about an effect, and how. */
export class ResolveIntent {
  @ApiProperty({ enum: outcomes })
  @IsOneOf(outcomes)
  outcome: (typeof outcomes)[number];

  @ApiPropertyOptional({ type: String, description: 'The id of the effect at the upstream.', example: 'TICKET-7' })
  @IsOptional()
  @IsLine(200)
  externalId?: string | null;

  @ApiProperty({ description: 'How it was found out.', example: 'seen in the ticket system at 10:40' })
  @IsProse(4_000)
  evidence: string;
}

/** True where a person has settled it with the very same words. */
export function wasResolvedSo(
  history: readonly RecordedEvent[],
  { outcome, externalId = null, evidence }: ResolveIntent,
): boolean {
  return history.some(
    ({ event }) =>
      event.type === 'resolved' &&
      event.outcome === outcome &&
      event.externalId === externalId &&
      event.evidence === evidence,
  );
}
