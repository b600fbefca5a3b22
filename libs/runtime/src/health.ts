import {
  Controller,
  type DynamicModule,
  Get,
  HttpCode,
  Inject,
  Module,
  ServiceUnavailableException,
} from '@nestjs/common';

/** Something the service cannot work without; `check` throws when it is not there. */
export interface ReadinessCheck {
  readonly name: string;
  readonly check: () => Promise<void> | void;
}

const readinessChecks = Symbol('readiness checks');

@Controller()
class HealthController {
  constructor(@Inject(readinessChecks) private readonly checks: readonly ReadinessCheck[]) {}

  /** The process runs. */
  @Get('livez')
  @HttpCode(200)
  live(): { status: string } {
    return { status: 'alive' };
  }

  /** The process can do its work now; 503 names what is missing. */
  @Get('readyz')
  async ready(): Promise<{ status: string; checks: Record<string, string> }> {
    const results = await Promise.all(this.checks.map(run));
    const checks = Object.fromEntries(results);
    if (results.some(([, state]) => state !== 'ok'))
      throw new ServiceUnavailableException({ status: 'not ready', checks });
    return { status: 'ready', checks };
  }
}

async function run({ name, check }: ReadinessCheck): Promise<[string, string]> {
  try {
    await check();
    return [name, 'ok'];
  } catch (error) {
    return [name, (error as Error).message];
  }
}

@Module({})
export class HealthModule {
  /** `checks` are made by a factory that gets what `inject` names. */
  static forRoot(inject: unknown[], checks: (...dependencies: never[]) => readonly ReadinessCheck[]): DynamicModule {
    return {
      module: HealthModule,
      controllers: [HealthController],
      providers: [{ provide: readinessChecks, inject: inject as never[], useFactory: checks }],
    };
  }
}
