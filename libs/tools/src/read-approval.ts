import { type ApprovalRole, type ApprovalRules, approvalRoles, defaultApproval } from '@intendant/contracts';
import { readPreview } from './read-preview.js';
import type { ToolSource } from './tool-source.js';
import type { Spans } from './windows.js';

/** Who has to agree to a call, of a file that was checked. */
export function readApproval(source: ToolSource, { approvalTtl }: Spans): ApprovalRules {
  const { required, quorum, selfApproval, remember } = source.object('approval') ?? {};
  return {
    required: required === true,
    quorum: typeof quorum === 'number' ? quorum : defaultApproval.quorum,
    ttlMs: approvalTtl?.ms ?? defaultApproval.ttlMs,
    view: prose(source, 'view'),
    preview: readPreview(source),
    impact: prose(source, 'impact'),
    undo: prose(source, 'undo'),
    roles: list(source, 'roles').filter(isRole),
    groups: list(source, 'groups'),
    selfApproval: selfApproval === true,
    redact: list(source, 'redact'),
    remember: remember === 'tenant' ? 'tenant' : 'run',
  };
}

function prose(source: ToolSource, field: string): string | null {
  return source.text('approval', field)?.trim() ?? null;
}

function list(source: ToolSource, field: string): string[] {
  const value = source.value('approval', field);
  return Array.isArray(value) ? value.map(String) : [];
}

function isRole(text: string): text is ApprovalRole {
  return approvalRoles.some((role) => role === text);
}
