import type { PreviewDefinition } from './preview.js';

/** What a tool file says about the people who have to agree to a call. */
export interface ApprovalRules {
  readonly required: boolean;
  /** Different people that have to agree, 1 to 10. */
  readonly quorum: number;
  /** How long it can be given, in ms. */
  readonly ttlMs: number;
  /** Text with `{{field}}`; null: the name and the arguments. */
  readonly view: string | null;
  /** How the upstream is asked what the call would change; null: it is not. */
  readonly preview: PreviewDefinition | null;
  /** What it touches, in a sentence with `{{field}}`; null: not said. */
  readonly impact: string | null;
  /** How it can be undone, for people; null: not said. */
  readonly undo: string | null;
  /** Roles one of which an approver needs beside `approver`; empty: none. */
  readonly roles: readonly ApprovalRole[];
  /** Groups, one of which an approver is in; empty: any. */
  readonly groups: readonly string[];
  /** The user of the run may approve. */
  readonly selfApproval: boolean;
  /** JSON Pointers into the arguments, `*` for each item of a list, whose values nobody is shown. */
  readonly redact: readonly string[];
  /** Where a refusal is remembered. */
  readonly remember: 'run' | 'tenant';
}

export const approvalRoles = ['operator', 'admin'] as const;
export type ApprovalRole = (typeof approvalRoles)[number];

/** A group of operators. */
export const groupPattern = /^[a-z][a-z0-9_-]*$/;

/** What holds for a tool whose file says nothing about approval. */
export const defaultApproval: ApprovalRules = {
  required: false,
  quorum: 1,
  ttlMs: 3_600_000,
  view: null,
  preview: null,
  impact: null,
  undo: null,
  roles: [],
  groups: [],
  selfApproval: false,
  redact: [],
  remember: 'run',
};
