import { randomBytes } from 'node:crypto';
import { NightshiftError } from '../../core/model/errors.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import { type LimitKey, readLimits, type SetLimits } from '../../core/schedule/limits.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { LimitOptions, Run, RunOptions, RunResult } from '../api.ts';
import { adaptAgents } from '../custom-agent.ts';
import { parseSample } from '../select-rows.ts';
import type { World } from '../world.ts';
import { EventQueue } from './event-queue.ts';
import type { RunSettings } from './plan-run.ts';
import { runFolder } from './run-shift.ts';

/** `prepare`: gives the settings of the run; what it throws is how the run ends. */
export function startRun(
  paths: ShiftPaths,
  prepare: () => RunSettings | Promise<RunSettings>,
  world: World,
  signal?: AbortSignal,
): Run {
  const queue = new EventQueue<NightshiftEvent>();
  const drain = new AbortController();
  const now = new AbortController();
  const stop = {
    drain: AbortSignal.any([drain.signal, now.signal, ...(signal ? [signal] : [])]),
    now: AbortSignal.any([now.signal, ...(signal ? [signal] : [])]),
    [Symbol.dispose]: () => {},
  };
  const result = begin();
  // Reading the events may be all that the caller does: they end with the same error.
  result.catch(() => {});
  return {
    result,
    stop: (options = {}) => (options.now ? now : drain).abort(),
    [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator](),
  };

  async function begin(): Promise<RunResult> {
    try {
      const settings = await prepare();
      const onEvent = (event: NightshiftEvent) => queue.push(event);
      const { exitCode, reason, counts, ms, notBefore } = await runFolder(
        paths,
        { ...settings, onEvent, openStop: () => stop },
        world,
      );
      queue.close();
      return {
        exitCode,
        reason,
        ...(counts === undefined ? {} : { counts }),
        ms,
        ...(notBefore === undefined ? {} : { notBefore }),
      };
    } catch (error) {
      queue.close({ error });
      throw error;
    }
  }
}

/** The options of a library caller as a run takes them. */
export function readRunOptions(options: RunOptions): RunSettings & Required<Pick<RunSettings, 'request'>> {
  const { agent, model, task, rows, where = {}, limits = {} } = options;
  const size = options.sample === undefined ? undefined : String(options.sample);
  const sample = parseSample(size, options.seed, () => randomBytes(4).toString('hex'));
  const conditions = Object.entries(where).map(([column, value]) => ({ column, value }));
  const flags = {
    agent,
    model,
    task,
    rows,
    where: conditions.map(({ column, value }) => `${column}=${value}`),
    sample: size,
    seed: sample?.seed,
    ...limitTexts(limits),
  };
  return {
    agent,
    model,
    agents: adaptAgents(options.agents ?? []),
    limits: readLimitOptions(limits),
    task,
    rows,
    where: conditions.length === 0 ? undefined : conditions,
    sample,
    request: { command: 'start', flags: wordsIn(flags) },
  };
}

const LIMIT_NAMES: Readonly<Record<LimitKey, keyof LimitOptions>> = {
  'max-cost': 'maxCost',
  'max-tokens': 'maxTokens',
  'max-duration': 'maxDuration',
  until: 'until',
  'max-failures': 'maxFailures',
  'max-same-failures': 'maxSameFailures',
};

function readLimitOptions(limits: LimitOptions): SetLimits {
  const texts = limitTexts(limits);
  return readLimits(
    (key) => texts[key],
    (key, problem, hint) =>
      new NightshiftError('usage', `limits.${LIMIT_NAMES[key]} ${JSON.stringify(texts[key])} ${problem}`, hint),
  );
}

function limitTexts(limits: LimitOptions): Partial<Record<LimitKey, string>> {
  const entries = Object.entries(LIMIT_NAMES).flatMap(([key, name]) => {
    const value = limits[name];
    if (value === undefined) return [];
    return [[key, value instanceof Date ? value.toISOString() : String(value)]];
  });
  return Object.fromEntries(entries);
}

/** As on a command line, each flag as one word. */
function wordsIn(flags: Readonly<Record<string, string | readonly string[] | undefined>>): string[] {
  return Object.entries(flags).flatMap(([name, value]) => [value ?? []].flat().map((each) => `--${name}=${each}`));
}
