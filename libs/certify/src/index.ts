export { exampleOf } from './arguments.js';
export { type CampaignResult, campaign } from './campaign.js';
export { type Certificate, certify } from './certificate.js';
export { durationText } from './duration-text.js';
export type { Story, StoryLine } from './effect.js';
export { type Finding, type ProbeName, probes } from './finding.js';
export { NothingToTest, Subject, type SubjectOptions } from './subject.js';
