import { type ErrorObject, Refusal } from '@intendant/contracts';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/** Any failure, as the caller is told. */
export type Explain = (failure: unknown) => ErrorObject;

/** A refusal as a JSON-RPC error, with the error object of every other surface in its data. */
export async function asProtocol<T>(explain: Explain, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (failure) {
    const error = explain(failure);
    const wrong = failure instanceof Refusal && (error.category === 'validation' || error.code === 'not_found');
    throw new ProtocolError(wrong ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError, error.message, {
      error,
    });
  }
}
