import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { namespace } from './conformance-proxy.js';

/** The schema that the scenario `json-schema-2020-12` looks for. */
const fullSchema = `
  $schema: https://json-schema.org/draft/2020-12/schema
  type: object
  additionalProperties: false
  $defs:
    address:
      $anchor: addressDef
      type: object
      additionalProperties: false
      properties: { street: { type: string }, city: { type: string } }
  properties:
    name: { type: string }
    address: { $ref: "#/$defs/address" }
    contactMethod: { type: string, enum: [phone, email] }
    phone: { type: string }
    email: { type: string }
  allOf: [{ anyOf: [{ required: [phone] }, { required: [email] }] }]
  if: { properties: { contactMethod: { const: phone } }, required: [contactMethod] }
  then: { required: [phone] }
  else: { required: [email] }`;
const takes = (properties: string) => `{ type: object, additionalProperties: false, properties: { ${properties} } }`;

interface Fixture {
  readonly input?: string;
  /** How long it works, where its arguments do not say. */
  readonly seconds?: number;
  readonly fails?: boolean;
}

const fixtures: Readonly<Record<string, Fixture>> = {
  test_simple_text: {},
  test_error_handling: { fails: true },
  test_tool_with_progress: { seconds: 3 },
  test_streaming_elicitation: {},
  test_logging_tool: {},
  json_schema_2020_12_tool: { input: fullSchema },
  greet: { input: takes('name: { type: string }') },
  slow_compute: { input: takes('seconds: { type: integer }, label: { type: string }') },
  failing_job: { seconds: 1, fails: true },
  confirm_delete: { input: takes('filename: { type: string }'), seconds: 1 },
};

/** Writes tool files as the official suite wants them, as far as they can be tools of this kind. */
export async function writeConformanceTools(folder: string): Promise<void> {
  for (const [name, { input = takes(''), seconds = 0, fails = false }] of Object.entries(fixtures)) {
    await writeFile(path.join(folder, `${name}.tool.yaml`), toolFile(name, input));
    await writeFile(path.join(folder, `${name}.mjs`), program(seconds, fails));
  }
}

function toolFile(name: string, input: string): string {
  return `apiVersion: intendant/v1
name: ${namespace}${name}
version: 1
description: What the official suite calls ${name}.
effect: read
permission: test:use
input: ${input}
output: { type: object, required: [text], properties: { text: { type: string } } }
limits: { call: 70s, notice: 300ms }
retry: { attempts: 1 }
upstream:
  module: { file: ${name}.mjs }
`;
}

function program(seconds: number, fails: boolean): string {
  return `import { setTimeout } from 'node:timers/promises';
import { defineTool, notExecuted } from 'intendant/tool';

export default defineTool({
  async execute({ args: { seconds = ${seconds} } }, { signal }) {
    await setTimeout(seconds * 1_000, undefined, { signal });
    return ${fails ? "notExecuted('it always fails')" : "{ text: 'done' }"};
  },
});
`;
}
