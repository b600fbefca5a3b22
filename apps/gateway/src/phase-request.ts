import { openRunLimits } from '@intendant/contracts';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import { IsLine } from './validators.js';

/** The phase that a run enters. */
export class PhaseRequest {
  @ApiProperty({
    type: 'string',
    nullable: true,
    maxLength: openRunLimits.phaseLength,
    description: 'Limits the run to tools of this phase, and to tools without one; null: it is in none.',
    example: 'resolve',
  })
  @ValidateIf((_, value) => value !== null)
  @IsLine(openRunLimits.phaseLength)
  phase: string | null;
}
