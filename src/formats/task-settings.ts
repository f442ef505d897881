import { parseDuration } from '../core/model/duration.ts';
import { ATTEMPTS, MOST_ATTEMPTS, type Settings } from '../core/model/model.ts';
import { readChangeLimits, readSandbox } from './change-settings.ts';
import { badSetting, type LookUp, leadsOut, listOf, type PlacedSetting } from './look-up.ts';

const DEFAULT_AGENT = 'opencode';
const QA_WORDS = ['auto', 'always', 'parallel'];
const HALF_AN_HOUR = 30 * 60_000;
const TEN_MINUTES = 10 * 60_000;

/** Settings, and those that still have placeholders. */
export interface TaskSettings extends Settings {
  readonly workingDir?: PlacedSetting;
  readonly limitPaths: readonly PlacedSetting[];
}

/** The settings of a task. The command line (`given`) wins over the files. */
export function readTaskSettings(
  lookUp: LookUp,
  given: { readonly agent?: string | undefined; readonly model?: string | undefined },
): TaskSettings {
  const value = (key: string) => lookUp(key)?.setting.value || undefined;
  const isNone = (key: string) => /^(none|0+)$/.test(value(key) ?? '');
  const workingDir = lookUp('working-dir');
  const optional = {
    command: value('command'),
    acpCommand: value('acp-command'),
    model: given.model ?? value('model'),
    qaAgent: value('qa-agent'),
    qaModel: value('qa-model'),
  };
  return {
    agent: given.agent ?? value('agent') ?? DEFAULT_AGENT,
    tools: listOf(value('tools')),
    ...readQa(lookUp),
    attempts: integer(lookUp, 'attempts', ATTEMPTS, [1, MOST_ATTEMPTS]),
    qaRetries: integer(lookUp, 'qa-retries', 0, [0, MOST_ATTEMPTS - 1]),
    retryDelayMs: isNone('retry-delay') ? 0 : duration(lookUp, 'retry-delay', 0),
    timeoutMs: duration(lookUp, 'timeout', HALF_AN_HOUR),
    checkTimeoutMs: duration(lookUp, 'check-timeout', TEN_MINUTES),
    outputs: listOf(value('outputs')),
    passEnv: listOf(value('pass-env')),
    protect: readProtect(lookUp),
    changeLimits: readChangeLimits(lookUp),
    sandbox: readSandbox(lookUp),
    ...(value('worker-labels') && { workerLabels: listOf(value('worker-labels')) }),
    ...(value('workspace') === 'none' && { isFolderless: true }),
    limitPaths: ['allow-paths', 'deny-paths'].flatMap((key) => lookUp(key) ?? []),
    ...withoutAbsent(optional),
    ...(workingDir === undefined ? {} : { workingDir }),
  };
}

function duration(lookUp: LookUp, key: string, fallback: number): number {
  const found = lookUp(key);
  if (!found || found.setting.value === '') return fallback;
  const parsed = parseDuration(found.setting.value);
  if (parsed !== undefined) return parsed;
  throw badSetting(found, 'is not a time', 'write it like 90s, 30m or 2h');
}

function integer(lookUp: LookUp, key: string, fallback: number, [least, most]: readonly [number, number]): number {
  const found = lookUp(key);
  if (!found || found.setting.value === '') return fallback;
  const { value } = found.setting;
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw badSetting(found, `is not a number from ${least} to ${most}`, `write it like \`- ${key}: ${fallback}\``);
}

function readQa(lookUp: LookUp): Pick<Settings, 'qa' | 'qaParallel'> {
  const qa = lookUp('qa');
  const wanted = listOf(qa?.setting.value);
  if (qa && wanted.some((word) => !QA_WORDS.includes(word))) {
    const hint = 'write auto, always, parallel, or `always, parallel`';
    throw badSetting(qa, `is not one of ${QA_WORDS.join(', ')}`, hint);
  }
  return { qa: wanted.includes('always') ? 'always' : 'auto', qaParallel: wanted.includes('parallel') };
}

function readProtect(lookUp: LookUp): string[] {
  const protect = lookUp('protect');
  const globs = listOf(protect?.setting.value);
  const outside = globs.find(leadsOut);
  if (protect === undefined || outside === undefined) return globs;
  const setting = { ...protect.setting, value: outside };
  const hint = 'name files in it, like dist/** or data/*.db';
  throw badSetting({ ...protect, setting }, 'leads out of the working folder', hint);
}

function withoutAbsent(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}
