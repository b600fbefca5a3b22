import { tenantPattern } from '@intendant/contracts';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { IsDuration, IsLine, IsShape } from './validators.js';

/** A month; whoever means longer leaves it open. */
const longestMs = 31 * 24 * 3_600_000;

/** What is to be paused. Every part that is given has to fit; with none given it is everything. */
export class PauseRequest {
  @ApiPropertyOptional({ type: String, description: 'Of one tenant.', example: 'acme' })
  @IsOptional()
  @IsShape(tenantPattern, 'the name of a tenant')
  tenant?: string | null;

  @ApiPropertyOptional({ type: String, description: 'One tool.', example: 'payments.refund.create' })
  @IsOptional()
  @IsLine(200)
  tool?: string | null;

  @ApiPropertyOptional({
    type: String,
    description: 'The tools whose names begin with it and a dot.',
    example: 'payments',
  })
  @IsOptional()
  @IsLine(200)
  namespace?: string | null;

  @ApiPropertyOptional({ type: String, description: 'The tools of one upstream, by the name that tool files give it.' })
  @IsOptional()
  @IsLine(200)
  upstream?: string | null;

  @ApiProperty({ description: 'Why; agents are told.', example: 'the payment provider is in maintenance' })
  @IsLine(500)
  reason: string;

  @ApiPropertyOptional({
    type: String,
    description: 'How long, 31 days at most; without it until somebody ends it.',
    examples: ['PT30M', '2h', '3600'],
  })
  @IsOptional()
  @IsDuration(longestMs)
  for?: string | null;
}
