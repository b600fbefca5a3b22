import { agents } from './agents.js';
import { payments } from './payments.js';
import { servers } from './servers.js';
import { statements } from './statements.js';
import type { Story } from './story.js';
import { workers } from './workers.js';

/** Public incidents, each reduced to what was given, what happened and what had to follow. */
export const stories: readonly Story[] = [...agents, ...payments, ...workers, ...servers];

/** All that has a name to be run by. */
export const all: readonly Story[] = [...stories, ...statements];
