import { type HintMessage, OnHint } from '@intendant/bus';
import { subjects } from '@intendant/contracts';
import type { Logger } from '@intendant/runtime';
import { answerBody, mayAnswerAt, readAnswer } from '@intendant/slack';
import { Postman } from '@intendant/upstream';
import { Controller, Inject } from '@nestjs/common';

export const slackAnswers = Symbol('slack answers');
export interface SlackAnswers {
  /** Null: Slack is not set up here, and whoever clicked hears it from another process. */
  readonly apiUrl: URL | null;
  readonly logger: Logger;
}

const answerBytes = 4_096;

/** Answers clicks in Slack on behalf of the gateway, which calls nobody. Once: whoever hears nothing clicks again. */
@Controller()
export class SlackAnswersController {
  constructor(
    private readonly postman: Postman,
    @Inject(slackAnswers) private readonly options: SlackAnswers,
  ) {}

  @OnHint(subjects.hintSlackAnswer, { queue: true })
  async answer({ payload }: HintMessage): Promise<void> {
    const { apiUrl, logger } = this.options;
    const answer = readAnswer(payload);
    if (apiUrl === null || answer === null) return;
    if (!mayAnswerAt(answer.responseUrl, apiUrl)) {
      logger.warn('an answer was to go to an address that is not of Slack; not sent');
      return;
    }
    const url = new URL(answer.responseUrl);
    const reply = await this.postman.post({ url, headers: {}, body: JSON.stringify(answerBody(answer)), answerBytes });
    const why = reply.kind === 'failed' ? reply.why : `http_${reply.status}`;
    if (why !== 'http_200') logger.warn({ why }, 'an answer to a click in Slack did not arrive');
  }
}
