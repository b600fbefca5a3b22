import { grantLimits as limits, openRunLimits, tenantPattern, toolNamePattern } from '@intendant/contracts';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { PageQuery } from './queries.js';
import { IsBudgetCost, IsDuration, IsFlag, IsLine, IsNumberFrom, IsOneOf, IsProse, IsShape } from './validators.js';

/** What an approver agrees to in advance. */
export class GrantRequest {
  @ApiProperty({ description: 'Calls of this tool, in its present version.', example: 'payments.refund.create' })
  @IsShape(toolNamePattern, 'the name of a tool')
  tool: string;

  @ApiPropertyOptional({
    type: String,
    description:
      'CEL over `args`, `session` and `tool`: true where a call is agreed to. Without it whatever its arguments.',
    example: 'args.amount <= 50 && args.currency == "EUR"',
  })
  @IsOptional()
  @IsProse(limits.whenLength)
  when?: string | null;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: limits.uses, description: 'How many calls at most.' })
  @IsNumberFrom(1, limits.uses)
  maxUses: number;

  @ApiPropertyOptional({
    type: 'number',
    minimum: 0,
    description: "What they may cost together, in units of the tool's cost, with at most six decimals.",
  })
  @IsOptional()
  @IsBudgetCost()
  maxTotal?: number | null;

  @ApiProperty({ description: 'How long, 30 days at most.', examples: ['PT30M', '8h', 'P7D'] })
  @IsDuration(limits.longestMs)
  ttl: string;

  @ApiPropertyOptional({ type: String, description: 'Only in runs of this user.', example: 'ada' })
  @IsOptional()
  @IsLine(openRunLimits.userLength)
  user?: string | null;

  @ApiPropertyOptional({ type: Boolean, description: 'For calls of the sandbox, and for nothing real.' })
  @IsOptional()
  @IsFlag()
  sandbox?: boolean | null;

  @ApiProperty({ description: 'Why.', example: 'refund week of the recall' })
  @IsProse(limits.reasonLength)
  reason: string;

  @ApiPropertyOptional({ type: String, description: 'For whoever works for all tenants: which one.', example: 'acme' })
  @IsOptional()
  @IsShape(tenantPattern, 'the name of a tenant')
  tenant?: string | null;
}

export class GrantQuery extends PageQuery {
  @IsOptional()
  @IsShape(tenantPattern, 'the name of a tenant')
  tenant?: string;

  @IsOptional()
  @IsShape(toolNamePattern, 'the name of a tool')
  tool?: string;

  @IsOptional()
  @IsOneOf(['true', 'false'])
  all?: 'true' | 'false';
}
