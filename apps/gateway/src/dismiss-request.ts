import { ApiProperty } from '@nestjs/swagger';
import { IsProse } from './validators.js';

/** Why nothing more is to be done about a message that could not be admitted. */
export class DismissRequest {
  @ApiProperty({ description: 'Why, for the record.', example: 'a probe of the load balancer' })
  @IsProse(4_000)
  reason: string;
}
