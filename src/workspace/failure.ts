import { NightshiftError } from '../core/model/errors.ts';
import { isPassing, systemError } from '../core/model/system-errors.ts';
import { withoutLogin } from '../core/workspace/login.ts';
import type { WorkspaceFailure } from '../core/workspace/workspaces.ts';
import { NotThere } from './base.ts';
import { GitFailure } from './git.ts';

/** What an error means for the row. Throws it again if it is a bug. */
export function failureOf(error: unknown, signal: AbortSignal): WorkspaceFailure {
  if (signal.aborted) return { kind: 'aborted' };
  if (error instanceof NotThere || error instanceof GitFailure) {
    const reason = withoutLogin(error.message);
    if (error instanceof GitFailure && error.isTrouble) return { kind: 'trouble', trouble: { reason } };
    return { kind: 'failed', reason, failurePoint: 'workspace' };
  }
  const known = error instanceof NightshiftError ? error : systemError(error);
  if (known === undefined) throw error;
  // No room, no permission, a lock that is held: the same for every row, and none of them is at fault.
  const remedy = isPassing(error) || known.hint === undefined ? {} : { remedy: known.hint };
  return { kind: 'trouble', trouble: { reason: known.message, ...remedy } };
}
