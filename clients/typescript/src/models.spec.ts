import type Anthropic from '@anthropic-ai/sdk';
import type * as contracts from '@intendant/contracts';
import { jsonSchema, type ToolSet } from 'ai';
import type OpenAI from 'openai';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  aiSdkTools,
  anthropicCall,
  anthropicTools,
  modelName,
  openaiCall,
  openaiResponsesTools,
  openaiTools,
  type Run,
  type Tool,
  textFor,
  toolName,
} from './index.js';
import type * as wire from './wire.js';

const tool: Tool = {
  name: 'payments.refund.create',
  description: 'Refund a captured payment.',
  version: 1,
  effect: 'destructive',
  reversible: false,
  inputSchema: { type: 'object', required: ['order_id'], properties: { order_id: { type: 'string' } } },
  outputSchema: null,
};
const schema = tool.inputSchema;
const named = { name: 'payments-refund-create', description: tool.description };

/** What each of these SDKs demands of a name. */
const allowed = /^[a-zA-Z0-9_-]{1,64}$/;

describe('names for models', () => {
  test.each(['orders.get', 'a.b', 'legacy_crm.ticket_v2.create', `a.${'b'.repeat(62)}`])(
    '%s goes there and back',
    (it) => {
      expect(modelName(it)).toMatch(allowed);
      expect(toolName(modelName(it))).toBe(it);
    },
  );
});

describe('tool definitions', () => {
  test('fit the types of OpenAI, for chat completions and for responses', () => {
    const chat: OpenAI.Chat.Completions.ChatCompletionTool[] = openaiTools([tool]);
    expect(chat).toEqual([{ type: 'function', function: { ...named, parameters: schema } }]);
    const responses: OpenAI.Responses.Tool[] = openaiResponsesTools([tool]);
    expect(responses).toEqual([{ type: 'function', ...named, parameters: schema, strict: false }]);
  });

  test('fit the types of Anthropic', () => {
    const tools: Anthropic.Tool[] = anthropicTools([tool]);
    expect(tools).toEqual([{ ...named, input_schema: schema }]);
  });

  test('fit the types of the Vercel AI SDK, and call the run with the id of the tool call as the step', async () => {
    const called: unknown[] = [];
    const run = {
      call: async (...args: unknown[]) => {
        called.push(args);
        return { status: 'committed', outcome: 'executed', data: 1, summary: null, error: null };
      },
    } as unknown as Run;
    const tools = aiSdkTools([tool], run, jsonSchema) satisfies ToolSet;
    const { signal } = new AbortController();
    const options = { toolCallId: 'call_1', messages: [], abortSignal: signal };
    const told = await tools['payments-refund-create']?.execute({ order_id: 'o' }, options);
    expect(called).toEqual([['payments.refund.create', { order_id: 'o' }, { stepId: 'call_1', signal }]]);
    expect(JSON.parse(told ?? '')).toEqual({ status: 'committed', outcome: 'executed', data: 1 });
  });
});

describe('what a model wants called', () => {
  const call = { tool: tool.name, args: { order_id: 'ord_1' }, stepId: 'call_1' };

  test('is read from a tool call of OpenAI', () => {
    const said: OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall = {
      id: 'call_1',
      type: 'function',
      function: { name: named.name, arguments: '{"order_id":"ord_1"}' },
    };
    expect(openaiCall(said)).toEqual(call);
  });

  test('is read from a tool use of Anthropic', () => {
    type Said = Pick<Anthropic.ToolUseBlock, 'id' | 'name' | 'input'>;
    const said: Said = { id: 'call_1', name: named.name, input: { order_id: 'ord_1' } };
    expect(anthropicCall(said)).toEqual(call);
  });
});

test('an error is told to the model with what to do', () => {
  const error = { code: 'outcome_unknown', category: 'dependency', message: 'Not known.', retryable: false } as const;
  const result = { status: 'unknown', outcome: 'unknown', data: null, summary: null } as wire.IntentResult;
  expect(JSON.parse(textFor({ ...result, error: { ...error, nextAction: 'check_outcome', details: {} } }))).toEqual({
    status: 'unknown',
    outcome: 'unknown',
    error: { code: 'outcome_unknown', message: 'Not known.', nextAction: 'check_outcome' },
  });
});

test('the types of the client are those of the service', () => {
  expectTypeOf<contracts.IntentResult>().toExtend<wire.IntentResult>();
  expectTypeOf<contracts.IntentResult['status']>().toEqualTypeOf<wire.Status>();
  expectTypeOf<keyof contracts.IntentResult>().toEqualTypeOf<keyof wire.IntentResult>();
  expectTypeOf<contracts.ErrorObject>().toExtend<wire.ErrorObject>();
  expectTypeOf<contracts.NextAction>().toEqualTypeOf<wire.NextAction>();
  expectTypeOf<keyof contracts.ErrorObject>().toEqualTypeOf<keyof wire.ErrorObject>();
  expectTypeOf<contracts.OpenedRun>().toEqualTypeOf<wire.OpenedRun>();
});
