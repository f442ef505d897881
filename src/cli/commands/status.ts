import { readHistory } from '../../app/history.ts';
import { nextAfterLastRun } from '../../app/next-command.ts';
import { openAndCheck } from '../../app/open-shift.ts';
import type { LastRun } from '../../core/folds/last-run.ts';
import { type Summary, summarise } from '../../core/folds/summary.ts';
import { EXIT } from '../../core/model/errors.ts';
import { type Limits, limitsInForce, limitTexts } from '../../core/schedule/limits.ts';
import type { NextCommand } from '../../core/schedule/run-request.ts';
import { type FoundBatch, isStale, readBatch } from '../../store/folder/batch-file.ts';
import { waitingCopies } from '../../store/folder/documents/put-back.ts';
import { currentHolder, type Holder } from '../../store/folder/run-lock.ts';
import { nextLine } from '../../views/next-line.ts';
import { count } from '../../views/plain.ts';
import { oneLine } from '../../views/printable.ts';
import { summaryLines, usageText } from '../../views/summary.ts';
import { chooseShift } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const { state, limited } = await readState(io, name);
  if (options.json) io.print(JSON.stringify(state));
  else for (const line of [...summaryLines(state.shift, state), ...runLines(state, limited)]) io.print(line);
  return EXIT.done;
}

interface State extends Summary {
  readonly shift: string;
  readonly running: Holder | null;
  /** `end` is null while it goes on, and if it was killed, or could not write down how it ended. */
  readonly lastRun: (Omit<LastRun, 'end'> & { readonly end: LastRun['end'] | null }) | null;
  /** One that somebody opened by hand. */
  readonly batch: { task: string; items: number; opened: string; isStale: boolean } | null;
  /** Documents of which an edit was put back and not accepted yet. */
  readonly putBack: readonly string[];
  readonly ms: number;
  readonly limits: Limits;
  /** What continues the last run, or retries what failed; null while it goes on, and where there is nothing to do. */
  readonly next: NextCommand | null;
}

/** `limited`: the limits in words, with how far they are used up. */
export async function readState(io: Io, name: string | undefined): Promise<{ state: State; limited: string[] }> {
  const paths = await chooseShift(io, name);
  const { shift, snapshot } = await openAndCheck(paths);
  const history = await readHistory(paths, io);
  const holder = currentHolder(paths.runLock);
  const { usage, tally } = history;
  // Flags are known to their run alone, which told them.
  const limits = (holder && tally.limits) ?? limitsInForce(shift.settings.limits, false, io.now());
  const batch = readBatch(paths);
  const summary = summarise(snapshot, history);
  const { counts } = summary;
  const now = io.now();
  const isFree = !holder && !batch;
  const next = isFree
    ? nextAfterLastRun({ shift: paths.name, history, limits: shift.settings.limits, counts, now })
    : undefined;
  const state = {
    shift: paths.name,
    running: holder ?? null,
    lastRun: history.lastRun ? { end: null, ...history.lastRun } : null,
    batch: batch ? described(batch, io.now()) : null,
    putBack: [...new Set(waitingCopies(paths.folder).map(({ document }) => document))],
    ...summary,
    ms: tally.ms,
    limits,
    next: next ?? null,
  };
  return { state, limited: limitTexts(limits, { usage, ms: tally.ms, failures: tally.failures }, false) };
}

/** What was spent of what, who is at work, and how the last run ended. */
export function runLines(state: State, limited: readonly string[]): string[] {
  const { running, batch, tasks, usage, next } = state;
  const lines: string[] = [];
  const spent = usageText(usage);
  if (spent !== undefined) lines.push(spent);
  if (limited.length > 0) lines.push(`limits: ${limited.join(', ')}`);
  if (state.putBack.length > 0) {
    lines.push(
      `put back, not in force: edits of ${state.putBack.join(', ')}; \`nightshift accept ${state.shift}\` shows them`,
    );
  }
  const interrupted = tasks.reduce((total, { counts }) => total + counts.in_progress, 0);
  if (batch) {
    const { task, items, opened, isStale } = batch;
    const silence = isStale ? '; its program is gone, or nothing was heard of it for longer than its timeout' : '';
    lines.push(`a batch is open since ${opened}: ${task}, ${count(items, 'item')}${silence}`);
  }
  if (!running) lines.push(...lastRunLines(state));
  if (running) lines.push(`running: process ${running.pid} since ${running.since}`);
  else if (next) {
    const left = interrupted > 0 ? `${count(interrupted, 'item')} in progress when it was interrupted; ` : '';
    lines.push(`not running: ${left}${nextLine(next)}`);
  }
  return lines;
}

/** An error, or trouble that only a person can end, has its remedy in the reason. */
function lastRunLines({ lastRun }: State): string[] {
  if (!lastRun) return [];
  const { end, lastAt } = lastRun;
  if (!end) return [`the last run was killed, or ended by an error, after ${oneLine(lastAt)}`];
  const how = end.error === undefined ? '' : ` by an error, with exit code ${end.exitCode}`;
  return [`the last run ended ${oneLine(lastAt)}${how}: ${oneLine(end.reason, 1000)}`];
}

function described(found: FoundBatch, now: number): NonNullable<State['batch']> {
  const { task, items, opened } = found.batch;
  return { task, items: items.length, opened, isStale: isStale(found, now) };
}
