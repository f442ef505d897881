import { howItEnded, runProcess, SHELL } from '../agents/process.ts';
import { formatDuration } from '../core/duration.ts';

/** A criterion's script with its values at hand (rule X2). */
export interface CheckRequest {
  readonly script: { readonly source: string; readonly values: Readonly<Record<string, string>> };
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
}

export type CheckResult =
  | { readonly kind: 'passed' }
  /** `final`: it ran out of time, and there is no other attempt after that. */
  | { readonly kind: 'failed'; readonly reason: string; readonly final: boolean }
  /** Not the item's fault (rule X5): it was not run. */
  | { readonly kind: 'trouble'; readonly reason: string }
  | { readonly kind: 'aborted' };

const KEEP_BYTES = 16 * 1024;

/** Runs one check to its end, or to that of its time; nothing of its process tree is left either way. */
export async function runCheck(request: CheckRequest): Promise<CheckResult> {
  const { script, folder, environment, timeoutMs, signal, onOutput } = request;
  const stop = new AbortController();
  const onAbort = () => stop.abort();
  if (signal.aborted) stop.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(onAbort, timeoutMs);
  try {
    const ended = await runProcess({
      file: SHELL,
      args: ['-e', '-c', script.source],
      cwd: folder,
      env: { ...environment, ...script.values },
      signal: stop.signal,
      keepBytes: KEEP_BYTES,
      ...(onOutput === undefined ? {} : { onOutput }),
    });
    if (ended.kind === 'aborted') return signal.aborted ? { kind: 'aborted' } : timedOut(timeoutMs);
    if (ended.kind === 'exited' && ended.code === 0) return { kind: 'passed' };
    if (ended.kind === 'not-started' && ended.fault === 'system') return { kind: 'trouble', reason: ended.reason };
    return { kind: 'failed', reason: howItEnded(ended), final: false };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function timedOut(timeoutMs: number): CheckResult {
  return { kind: 'failed', reason: `timed out after ${formatDuration(timeoutMs)}`, final: true };
}
