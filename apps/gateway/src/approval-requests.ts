import { intentIdPattern, Refusal, tenantPattern, toolNamePattern } from '@intendant/contracts';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsOptional, ValidateIf, ValidateNested } from 'class-validator';
import type { ApprovalDecision } from './decide-approval.js';
import { PageQuery } from './queries.js';
import { IsOneOf, IsProse, IsShape } from './validators.js';

const digestShape = /^[\w-]{8}\.[\w-]{43}$/;
const digestExpected = 'the digest that the approval shows';
/** Decisions in one request. */
export const largestBatch = 100;

export class ApprovalQuery extends PageQuery {
  @IsOptional()
  @IsShape(tenantPattern, 'the name of a tenant')
  tenant?: string;

  @IsOptional()
  @IsShape(toolNamePattern, 'the name of a tool')
  tool?: string;
}

/** A yes to exactly what was shown. */
export class ApproveRequest {
  @ApiProperty({ description: 'The `digest` of the approval as it was seen; of an older one nothing is approved.' })
  @IsShape(digestShape, digestExpected)
  digest: string;
}

/** A no. */
export class RefuseRequest {
  @ApiProperty({
    description: 'Why, in words that the agent is told.',
    example: 'the customer has been refunded already',
  })
  @IsProse(2_000)
  reason: string;

  @ApiPropertyOptional({
    type: String,
    description: 'The `digest` that was seen; without it, whatever is asked now is refused.',
  })
  @IsOptional()
  @IsShape(digestShape, digestExpected)
  digest?: string | null;
}

/** One of many decisions. */
export class BatchedDecision {
  @ApiProperty({ description: 'Id of the intent.' })
  @IsShape(intentIdPattern, 'the id of an intent')
  id: string;

  @ApiProperty({ enum: ['approve', 'refuse'] })
  @IsOneOf(['approve', 'refuse'])
  decision: 'approve' | 'refuse';

  @ApiProperty({ description: 'The `digest` of the approval as it was seen.' })
  @IsShape(digestShape, digestExpected)
  digest: string;

  @ApiPropertyOptional({ type: String, description: 'Why; needed to refuse.' })
  @ValidateIf(({ decision, reason }: BatchedDecision) => decision === 'refuse' || reason != null)
  @IsProse(2_000)
  reason?: string | null;
}

/** Many decisions, each about its own intent and bound to what was seen of it. */
export class BatchRequest {
  @ApiProperty({ type: [BatchedDecision] })
  @IsArray({ message: 'a list of decisions' })
  @ArrayMinSize(1, { message: 'one decision at least' })
  @ArrayMaxSize(largestBatch, { message: `${largestBatch} decisions at most` })
  @ValidateNested({ each: true, message: 'a list of decisions' })
  @Type(() => BatchedDecision)
  decisions: BatchedDecision[];
}

/** Each intent once. @throws Refusal where one is decided in two ways: then nothing of the batch is done */
export function decisionsOf({ decisions }: BatchRequest): ApprovalDecision[] {
  const byId = new Map<string, BatchedDecision>();
  for (const [index, each] of decisions.entries()) {
    const before = byId.get(each.id);
    if (before && (before.decision !== each.decision || before.digest !== each.digest)) {
      const expected = `the same decision as before about intent ${each.id}, or none`;
      throw new Refusal(
        'invalid_arguments',
        `Intent ${each.id} is decided twice, and not in the same way. Nothing was decided; say it once.`,
        { problems: [{ pointer: `/decisions/${index}`, expected, got: each.decision }] },
      );
    }
    byId.set(each.id, each);
  }
  return [...byId.values()].map(({ id, decision, digest, reason }) =>
    decision === 'approve' ? { decision, id, digest } : { decision, id, digest, reason: reason ?? '' },
  );
}
