import 'reflect-metadata';
import { Refusal } from '@intendant/contracts';
import { plainToInstance } from 'class-transformer';
import { type ValidationError, validate } from 'class-validator';

interface Problem {
  readonly pointer: string;
  readonly expected: string;
}

/**
 * Reads a body or a query string into a message class; its validators say what is legal.
 *
 * @throws Refusal `invalid_message` with every problem at once; unknown fields are among them.
 */
export async function readMessage<T extends object>(type: new () => T, value: unknown): Promise<T> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refusal([{ pointer: '', expected: 'a JSON object' }]);
  }
  const message = plainToInstance(type, value);
  const errors = await validate(message, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true });
  if (errors.length > 0) throw refusal(errors.flatMap((error) => problems(error, '')));
  return message;
}

function problems(error: ValidationError, above: string): Problem[] {
  const pointer = `${above}/${error.property.replaceAll('~', '~0').replaceAll('/', '~1').slice(0, 200)}`;
  const texts = Object.entries(error.constraints ?? {}).map(([rule, text]) =>
    rule === 'whitelistValidation' ? 'no field of this name' : text,
  );
  const own = [...new Set(texts)].map((expected) => ({ pointer, expected }));
  return [...own, ...(error.children ?? []).flatMap((child) => problems(child, pointer))];
}

function refusal(all: readonly Problem[]): Refusal {
  const [first] = all;
  const more = all.length > 1 ? ` (and ${all.length - 1} more)` : '';
  return new Refusal('invalid_message', `${first?.pointer || 'The body'}: expected ${first?.expected}${more}.`, {
    problems: all.slice(0, 100).map((problem) => ({ ...problem })),
  });
}
