import { intentIdPattern, Refusal } from '@intendant/contracts';
import { ApiHideProperty, ApiProperty } from '@nestjs/swagger';
import { IsArray, IsOptional, Matches } from 'class-validator';
import { IsProse } from './validators.js';

/** Dead letters to take up again. */
export class ReplayRequest {
  @ApiProperty({
    description: 'Exactly one id, of an intent or of a message.',
    example: ['01JD8Q4Y6V2N7XK3T5W9ZB1CEF'],
  })
  @IsOptional()
  @IsArray({ message: 'a list of ids' })
  @Matches(intentIdPattern, { each: true, message: 'a list, each item of it the id of an intent or of a message' })
  ids?: string[];

  @ApiProperty({ description: 'Why, for the record.', example: 'the payment provider is back' })
  @IsProse(4_000)
  reason: string;

  @ApiHideProperty()
  @IsOptional()
  filter?: unknown;

  @ApiHideProperty()
  @IsOptional()
  ratePerSecond?: unknown;
}

/** @throws Refusal where more than one dead letter is meant */
export function onlyId({ ids = [], filter, ratePerSecond }: ReplayRequest): string {
  const [id] = ids;
  if (id !== undefined && ids.length === 1 && filter == null && ratePerSecond == null) return id;
  throw new Refusal(
    'invalid_arguments',
    'Replaying several dead letters, or those of a filter, is not supported yet; send one id in ids.',
    {
      problems: [{ pointer: '/ids', expected: 'a list of exactly one id' }],
    },
  );
}
