import type Anthropic from '@anthropic-ai/sdk';
import type * as contracts from '@intendant/contracts';
import { errorObject } from '@intendant/contracts';
import { jsonSchema, type ToolSet } from 'ai';
import type OpenAI from 'openai';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import {
  aiSdkTools,
  anthropicCall,
  anthropicTools,
  IntendantError,
  modelName,
  NoOutcomeYet,
  openaiCall,
  openaiResponsesTools,
  openaiTools,
  type Run,
  type Tool,
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

const committed = {
  ...{ intentId: '01J9Z3M5V6W7X8Y9Z0A1B2C3D4', tool: tool.name, status: 'committed', outcome: 'executed' },
  ...{ replayed: false, data: { refund_id: 're_9' }, summary: null, handle: null, error: null },
};
const run = (over: object = {}) => over as unknown as Run;

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

  test('fit the types of the Vercel AI SDK, with those by which a model asks about its calls', () => {
    const tools = aiSdkTools([tool], run(), jsonSchema) satisfies ToolSet;
    expect(Object.keys(tools)).toEqual([named.name, 'intendant-intent-get', 'intendant-result-get']);
    for (const name of Object.keys(tools)) expect(name).toMatch(allowed);
  });
});

describe('a tool of the Vercel AI SDK', () => {
  const { signal } = new AbortController();
  const messages = [{ role: 'user', content: 'Refund it.' }] as const;
  const executed = { toolCallId: 'call_1', messages: [...messages], abortSignal: signal };

  test('calls the run with the id of the tool call as the step, unless the runtime has another', async () => {
    const called: unknown[] = [];
    const call = async (...args: unknown[]) => {
      called.push(args);
      return committed;
    };
    const stepOf = vi.fn(() => 'turn-1.0');
    const its = aiSdkTools([tool], run({ call }), jsonSchema)[named.name];
    expect(await its?.execute({ order_id: 'o' }, executed)).toMatch(/: committed, it happened \([^\n]+\n\{"refund_id"/);
    const others = aiSdkTools([tool], run({ call }), jsonSchema, { wait: 500, stepOf })[named.name];
    await others?.execute({ order_id: 'o' }, executed);
    expect(called).toEqual([
      [tool.name, { order_id: 'o' }, { stepId: 'call_1', signal }],
      [tool.name, { order_id: 'o' }, { stepId: 'turn-1.0', wait: 500, signal }],
    ]);
    expect(stepOf).toHaveBeenCalledWith({
      ...{ tool: tool.name, args: { order_id: 'o' }, toolCallId: 'call_1' },
      messages,
    });
  });

  test('tells the model not to call again where nothing is known', async () => {
    const call = async () => {
      throw new NoOutcomeYet(tool.name, 'call_1', null);
    };
    const told = await aiSdkTools([tool], run({ call }), jsonSchema)[named.name]?.execute({}, executed);
    expect(told).toBe(
      'payments.refund.create got no answer: it may have happened or may still happen. Do not call it again. Step call_1 can be asked about.',
    );
  });

  test('tells the model what to do where nothing was recorded', async () => {
    const error = errorObject('invalid_arguments', 'At /order_id expected a string. Nothing was recorded.');
    const call = async () => {
      throw new IntendantError(422, error);
    };
    const told = await aiSdkTools([tool], run({ call }), jsonSchema)[named.name]?.execute({}, executed);
    expect(told).toBe(`Error invalid_arguments: ${error.message}\nCorrect the arguments before you call it again.`);
  });
});

describe('what a model wants called', () => {
  const call = { tool: tool.name, args: { order_id: 'ord_1' }, stepId: 'call_1' };
  const replayed = { ...call, stepId: 'turn-3.0' };

  test('is read from a tool call of OpenAI, as it was written', () => {
    const said: OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall = {
      id: 'call_1',
      type: 'function',
      function: { name: named.name, arguments: '{"order_id":"ord_1","order_id":"ord_2"}' },
    };
    const args = said.function.arguments;
    expect(openaiCall(said)).toEqual({ ...call, args });
    expect(openaiCall(said, 'turn-3.0')).toEqual({ ...replayed, args });
    expect(openaiCall({ id: 'call_1', function: { name: named.name, arguments: '' } }).args).toBe('{}');
  });

  test('is read from a tool use of Anthropic', () => {
    type Said = Pick<Anthropic.ToolUseBlock, 'id' | 'name' | 'input'>;
    const said: Said = { id: 'call_1', name: named.name, input: { order_id: 'ord_1' } };
    expect(anthropicCall(said)).toEqual(call);
    expect(anthropicCall(said, 'turn-3.0')).toEqual(replayed);
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
