export { type Answer, answerBody, mayAnswerAt, readAnswer } from './answer.js';
export { approvalMessage, type BriefCard } from './approval-message.js';
export { type Interaction, readInteraction } from './interaction.js';
export { readSlackButtons, readSlackPosting, type SlackButtons, type SlackPosting } from './settings.js';
export { verifySlackSignature } from './signature.js';
