export { type AiSdkOptions, aiSdkTools } from './ai-sdk.js';
export { answerFor } from './answer-for.js';
export { IntendantError, NoOutcomeYet } from './errors.js';
export { NoAnswer } from './http.js';
export { Intendant, type IntendantOptions } from './intendant.js';
export {
  anthropicCall,
  anthropicTools,
  type ModelCall,
  modelName,
  type ObjectSchema,
  openaiCall,
  openaiResponsesTools,
  openaiTools,
  toolName,
} from './models.js';
export { ownTools } from './own-tools.js';
export { type CallOptions, type EventOptions, type PartOptions, Run, type WaitOptions } from './run.js';
export { textFor, textForPage } from './text-for.js';
export type * from './wire.js';
