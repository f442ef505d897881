import { existsSync } from 'node:fs';
import { NightshiftError } from '../core/model/errors.ts';
import { isTransient, systemError } from '../core/model/system-errors.ts';
import { withoutLogin } from '../core/workspace/login.ts';
import type { WorkspaceFailure } from '../core/workspace/workspaces.ts';
import { NotThere } from './base.ts';
import { GitFailure } from './git.ts';
import type { WorkspaceRecord } from './records.ts';

/** What rows are made from was moved or removed while the run used it: none of them is at fault, and it may come back. */
export class Gone extends Error {
  constructor(folder: string) {
    super(`${folder} is gone`);
  }
}

/** What an error means for the row. Throws it again if it is a bug. */
export function failureOf(error: unknown, signal: AbortSignal): WorkspaceFailure {
  if (signal.aborted) return { kind: 'aborted' };
  if (error instanceof NotThere || error instanceof GitFailure) {
    const reason = withoutLogin(error.message);
    if (error instanceof GitFailure && error.isTrouble) return { kind: 'trouble', trouble: { reason } };
    return { kind: 'failed', reason, failurePoint: 'workspace' };
  }
  if (error instanceof Gone) return { kind: 'trouble', trouble: { reason: error.message } };
  const known = error instanceof NightshiftError ? error : systemError(error);
  if (known === undefined) throw error;
  // No room, no permission, a lock that is held: the same for every row, and none of them is at fault.
  const remedy = isTransient(error) || known.hint === undefined ? {} : { remedy: known.hint };
  return { kind: 'trouble', trouble: { reason: known.message, ...remedy } };
}

type Repository = Pick<WorkspaceRecord, 'kind' | 'from'>;
type InTrouble = Extract<WorkspaceFailure, { kind: 'trouble' }>;

/** What came of it, unless it failed because the repository of a working tree is gone. */
export function unlessGone<T extends { readonly kind: string }>(record: Repository, outcome: T): T | InTrouble {
  const isFailure = outcome.kind === 'failed' || outcome.kind === 'trouble';
  const gone = isFailure ? goneOf(record) : undefined;
  return gone ? { kind: 'trouble', trouble: { reason: gone.message } } : outcome;
}

/** Why a workspace can't be read. */
export function whyUnread(record: Repository, failure: GitFailure): string {
  return (goneOf(record) ?? failure).message;
}

/** Git says all kinds of things if the repository of a working tree is gone. */
function goneOf({ kind, from }: Repository): Gone | undefined {
  return kind === 'worktree' && !existsSync(from) ? new Gone(from) : undefined;
}
