import { asksToTryLater, howItEnded, runProcess, shellOf } from '../agents/process/process.ts';
import { formatDuration } from '../core/model/duration.ts';
import type { ResolvedScript, Trouble } from '../core/model/model.ts';
import type { Mask } from '../core/text/mask.ts';
import type { Sandbox } from '../core/workspace/sandbox.ts';

/** The script of a criterion and its values (rule X2). */
export interface CheckRequest {
  readonly script: ResolvedScript;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Aborts when that time is over. */
  readonly limit: AbortSignal;
  readonly signal: AbortSignal;
  readonly mask: Mask;
  readonly sandbox?: Sandbox;
  readonly onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
}

export type CheckResult =
  | { readonly kind: 'passed' }
  /** `final`: it ran out of time, so no further attempt is made. */
  | { readonly kind: 'failed'; readonly reason: string; readonly final: boolean }
  /** Not the item's fault (rule X5): the check could not be run, or asks to be run later. */
  | { readonly kind: 'trouble'; readonly trouble: Trouble }
  | { readonly kind: 'aborted' };

const KEEP_BYTES = 16 * 1024;

/** Runs one check until it ends or times out. Leaves no process behind. */
export async function runCheck(request: CheckRequest): Promise<CheckResult> {
  const { script, folder, environment, timeoutMs, limit, signal, mask, sandbox, onOutput } = request;
  const stop = new AbortController();
  const onAbort = () => stop.abort();
  if (signal.aborted || limit.aborted) stop.abort();
  for (const each of [signal, limit]) each.addEventListener('abort', onAbort, { once: true });
  try {
    const ended = await runProcess({
      file: shellOf(script),
      args: ['-e', '-c', script.source],
      cwd: folder,
      env: { ...environment, ...script.values },
      signal: stop.signal,
      keepBytes: KEEP_BYTES,
      mask,
      sandbox,
      ...(onOutput === undefined ? {} : { onOutput }),
    });
    if (ended.kind === 'aborted') return signal.aborted ? { kind: 'aborted' } : timedOut(timeoutMs);
    if (ended.kind === 'exited' && ended.code === 0) return { kind: 'passed' };
    if (ended.kind === 'not-started' && ended.fault === 'system') {
      return { kind: 'trouble', trouble: { reason: ended.reason } };
    }
    if (asksToTryLater(ended)) {
      return { kind: 'trouble', trouble: { reason: `a check: ${howItEnded(ended)}`, isRequested: true } };
    }
    return { kind: 'failed', reason: howItEnded(ended), final: false };
  } finally {
    for (const each of [signal, limit]) each.removeEventListener('abort', onAbort);
  }
}

function timedOut(timeoutMs: number): CheckResult {
  return { kind: 'failed', reason: `timed out after ${formatDuration(timeoutMs)}`, final: true };
}
