import { Catch, type RpcExceptionFilter } from '@nestjs/common';
import { type Observable, throwError } from 'rxjs';

/**
 * Hands an error on as it is. Nest's own filter replaces every error by "Internal server error", and then the
 * transport could not tell a refusal from a defect.
 */
@Catch()
export class PassThroughFilter implements RpcExceptionFilter {
  catch(exception: unknown): Observable<never> {
    return throwError(() => exception);
  }
}
