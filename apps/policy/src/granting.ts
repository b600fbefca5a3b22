import { type Grant, grantLimits, Refusal, type ToolDefinition } from '@intendant/contracts';
import type { OperatorIdentity } from '@intendant/credentials';
import { isEntitled } from '@intendant/intent';
import { type CheckRestriction, mayBeGranted, readGrant, type WantedGrant } from '@intendant/policy';
import { type Store, StoreUnavailable } from '@intendant/store';
import type { ToolRegistry } from '@intendant/tools';

/** Gives grants; only this service knows every tool, and what can be a condition. */
export class Granting {
  constructor(
    private readonly store: Store,
    private readonly tools: ToolRegistry,
    private readonly checkCondition: CheckRestriction,
  ) {}

  /** @throws Refusal when nothing was granted, or when it is not known whether something was */
  async give(operator: OperatorIdentity, message: unknown): Promise<Grant> {
    const wanted = readGrant(message);
    const tenant = tenantOf(wanted, operator);
    const tool = this.toolOf(wanted);
    checkGiver(operator, tool);
    this.checkTerms(wanted, tool);
    const { name: givenBy, roles, groups } = operator;
    const grant = await this.store.grants
      .give({ ...wanted, tenant, toolVersion: tool.version, givenBy, roles, groups })
      .catch(unavailable);
    if (grant) return grant;
    throw new Refusal(
      'conflict',
      `${tool.name} has ${grantLimits.perTool} grants in force already, and more would not be looked at. Nothing was granted; revoke one first.`,
    );
  }

  private toolOf({ tool: name }: WantedGrant): ToolDefinition {
    const tool = this.tools.get(name);
    if (tool) return tool;
    const near = this.tools.suggest(name);
    throw new Refusal(
      'unknown_tool',
      `There is no tool ${name}.${near ? ` Did you mean ${near}?` : ''} Nothing was granted.`,
      { ...(near && { suggestion: near }) },
    );
  }

  private checkTerms({ when, maxTotal, sandbox }: WantedGrant, tool: ToolDefinition): void {
    if (!mayBeGranted({ tool })) {
      const { quorum } = tool.approval;
      throw wrong(
        '/tool',
        'a tool that one person can agree to',
        tool.name,
        `${tool.name} needs ${quorum} people; one cannot agree for all`,
      );
    }
    if (sandbox && tool.sandbox === null) {
      throw wrong('/sandbox', 'false', 'true', `${tool.name} has no sandbox`);
    }
    const free = sandbox ? 'calls of the sandbox cost nothing' : `the file of ${tool.name} says nothing of limits.cost`;
    if (maxTotal !== null && (sandbox || tool.limits.cost === null)) {
      throw wrong('/maxTotal', 'nothing', String(maxTotal), `There is no total to keep to: ${free}`);
    }
    const mistake = when === null ? null : this.checkCondition({ tools: [tool.name], allow: when, message: '' });
    if (mistake) throw wrong('/when', mistake.expected, String(when), `/when: expected ${mistake.expected}`);
  }
}

/** An operator of one tenant grants what is done there; whoever works for all says where. */
function tenantOf({ tenant }: WantedGrant, operator: OperatorIdentity): string {
  if (operator.tenant === '*') {
    if (tenant !== null) return tenant;
    throw wrong(
      '/tenant',
      'the name of a tenant',
      'nothing',
      `${operator.name} works for all tenants: say for which one`,
    );
  }
  if (tenant === null || tenant === operator.tenant) return operator.tenant;
  throw new Refusal('forbidden', `${operator.name} works for tenant ${operator.tenant}, not ${tenant}.`);
}

function checkGiver(operator: OperatorIdentity, { name, approval }: ToolDefinition): void {
  if (isEntitled(operator, approval)) return;
  const { roles, groups } = approval;
  const needed = [
    ...(roles.length > 0 ? [`the role ${roles.join(' or ')}`] : []),
    ...(groups.length > 0 ? [`the group ${groups.join(' or ')}`] : []),
  ];
  throw new Refusal(
    'forbidden',
    `Whoever agrees to ${name} needs ${needed.join(' and ')} beside approver; ${operator.name} has ${[...operator.roles, ...operator.groups].join(', ')}. Nothing was granted.`,
  );
}

function wrong(pointer: string, expected: string, got: string, sentence: string): Refusal {
  return new Refusal('invalid_arguments', `${sentence}. Nothing was granted.`, {
    problems: [{ pointer, expected, got: JSON.stringify(got) }],
  });
}

function unavailable(error: unknown): never {
  if (!(error instanceof StoreUnavailable)) throw error;
  throw new Refusal('unavailable', 'The store did not answer. List the grants to see whether this one was given.');
}
