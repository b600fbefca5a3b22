import { setTimeout as wait } from 'node:timers/promises';
import { Bus } from '@intendant/bus';
import { type IntentResult, Refusal, subjects } from '@intendant/contracts';
import type { OperatorIdentity } from '@intendant/credentials';
import { wallClock } from '@intendant/runtime';
import { type Answer, type Interaction, readInteraction, verifySlackSignature } from '@intendant/slack';
import { Store } from '@intendant/store';
import { Controller, HttpCode, Inject, Logger, Post, Req } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiConsumes, ApiOkResponse, ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { withRole } from './authentication.js';
import { rawForm } from './body-parsers.js';
import { type ApprovalDecision, decideApproval } from './decide-approval.js';
import { Problems } from './openapi-decorators.js';
import type { SlackClicks } from './slack-operators.js';

export const slackClicks = Symbol('slack clicks');

/** Slack shows a failure when it has waited for three seconds. */
const answerLimitMs = 2_000;

/** What people click in Slack. */
@ApiTags('operators')
@ApiSecurity('slackSignature')
@Controller('v1/slack')
export class SlackController {
  private readonly logger = new Logger('slack');

  constructor(
    private readonly bus: Bus,
    private readonly store: Store,
    @Inject(slackClicks) private readonly slack: SlackClicks | null,
  ) {}

  /**
   * Slack takes no answer here for a click: what comes of it is told to whoever clicked by the notifier, and told once it is
   * known, also where that takes longer than Slack waits.
   */
  @Post('interactions')
  @HttpCode(200)
  @RouteConfig(rawForm)
  @ApiOperation({
    summary: 'A click on a button of an approval, signed by Slack',
    description:
      'Counts as the decision of the operator that the Slack user is in INTENDANT_SLACK, and as nothing else.',
  })
  @ApiConsumes('application/x-www-form-urlencoded')
  @ApiOkResponse({ description: 'Received. Whoever clicked is told in Slack what came of it.' })
  @Problems('invalid_message', 'unauthenticated', 'not_found')
  async click(@Req() { headers, body }: FastifyRequest): Promise<void> {
    if (this.slack === null) throw new Refusal('not_found', 'Slack is not set up here (INTENDANT_SLACK).');
    if (!Buffer.isBuffer(body) || !verifySlackSignature(this.slack.signingSecret, headers, body, wallClock())) {
      throw new Refusal('unauthenticated', 'This is not signed by Slack, or it was more than five minutes ago.');
    }
    const click = readInteraction(body);
    const told = this.outcomeOf(this.slack, click).then((text) => {
      const answer: Answer = { responseUrl: click.responseUrl, text };
      this.bus.hint(subjects.hintSlackAnswer, JSON.stringify(answer));
    });
    await Promise.race([told, wait(answerLimitMs, undefined, { ref: false })]);
  }

  private async outcomeOf({ operators }: SlackClicks, { userId, ...clicked }: Interaction): Promise<string> {
    const operator = operators.get(userId);
    if (!operator) {
      return `Nothing was changed: you (${userId}) are not an operator here. Being in this channel does not make you one; an administrator can add you to INTENDANT_SLACK.`;
    }
    try {
      const approver = withRole(operator, 'approver');
      return words(clicked, await decideApproval(this.store, approver, decisionOf(clicked, approver)));
    } catch (failure) {
      if (failure instanceof Refusal) return failure.message;
      this.logger.error(failure instanceof Error ? failure : String(failure), `click about ${clicked.id}`);
      return `It is not known whether your click about intent ${clicked.id} counted. Click again: that is safe.`;
    }
  }
}

/** On a button nobody can write a reason. */
function decisionOf({ action, id, digest }: Omit<Interaction, 'userId'>, { name }: OperatorIdentity): ApprovalDecision {
  if (action === 'approve') return { decision: 'approve', id, digest };
  return { decision: 'refuse', id, digest, reason: `refused in Slack by ${name}` };
}

function words({ action }: Pick<Interaction, 'action'>, { tool, approval, intentId }: IntentResult): string {
  if (action === 'refuse') return `You have refused ${tool} (intent ${intentId}). It will not be sent.`;
  if (approval === undefined) return `You have approved ${tool} (intent ${intentId}).`;
  return `Your approval of ${tool} (intent ${intentId}) counts: ${approval.given} of ${approval.quorum} have agreed.`;
}
