import type { FleetKind } from '../model/control.ts';
import { type Expenses, type LimitKey, type LimitSettings, limitsInForce, setLimit, usedUp } from './budget.ts';

/** How a run was requested, so that it can be requested again. `flags`: each as `--name=value`, or `--name`. */
export interface RunRequest {
  readonly command: 'start' | 'retry';
  readonly flags: readonly string[];
}

/** Flags that choose the scope. A retry does not repeat them: it covers failed items only. */
const CHOICE = ['--task', '--rows', '--where', '--sample', '--seed', '--reason', '--all'];

/** Flags without a value. */
const SWITCHES = ['--all', '--insecure'];

/** The state of a shift after a run. */
export interface Standing {
  readonly shift: string;
  readonly request: RunRequest;
  /** The limits of `manager.md`, overridden by those of the request. */
  readonly limits: LimitSettings;
  readonly spent: Expenses;
  /** When the next run would start. */
  readonly at: number;
  /** The run ended before everything in its scope was done. */
  readonly isStopped: boolean;
  /** It left orders with the workers of a fleet. */
  readonly hasLeft?: boolean;
  readonly failed: number;
}

export interface NextCommand {
  readonly command: string;
  /** `adopt`: it continues, with the orders that workers carry out. */
  readonly does: 'continue' | 'adopt' | 'retry';
  /** The limits that it raises: with their old values it would end at once. */
  readonly raised: readonly LimitKey[];
}

/**
 * The one command that is suggested after a run: it continues what was stopped, or else retries failed items. It
 * repeats the limits, and raises those that would stop it again.
 */
export function nextCommand({
  shift,
  request,
  limits,
  spent,
  at,
  isStopped,
  hasLeft = false,
  failed,
}: Standing): NextCommand | undefined {
  if (!isStopped && failed === 0) return undefined;
  const does = isStopped ? (hasLeft ? 'adopt' : 'continue') : 'retry';
  const flags = readFlags(request.flags).filter(({ name }) => isStopped || !CHOICE.includes(name));
  const raised = raiseLimits(limits, spent, at);
  const others = flags.filter(({ name }) => !raised.some(({ key }) => name === `--${key}`));
  const all = [...others, ...raised.map(({ key, value }) => ({ name: `--${key}`, value }))];
  const command = ['nightshift', isStopped ? request.command : 'retry', shift, ...all.map(spell)].join(' ');
  return { command, does, raised: raised.map(({ key }) => key) };
}

function raiseLimits(limits: LimitSettings, spent: Expenses, at: number): { key: LimitKey; value: string }[] {
  const raised = new Map<LimitKey, string>();
  let set = limits;
  // Each run counts failures from 0.
  const before = { ...spent, failures: 0 };
  for (;;) {
    const reached = usedUp(limitsInForce(set, false, at), before, at);
    if (!reached) return [...raised].map(([key, value]) => ({ key, value }));
    raised.set(reached.key, reached.enough);
    set = setLimit(set, reached.key, reached.enough);
  }
}

interface Flag {
  readonly name: string;
  /** Absent: the flag has no value. */
  readonly value?: string;
}

/** Whether a run with these flags is on a fleet: the journal has no address. */
export function fleetIn(flags: readonly string[] = []): FleetKind | undefined {
  const value = readFlags(flags).find(({ name }) => name === '--fleet')?.value;
  return value === undefined ? undefined : value === 'try' ? 'try' : 'env';
}

/** The journal may contain anything: skips what is not a flag. */
function readFlags(words: readonly string[]): Flag[] {
  return words.flatMap((word): Flag[] => {
    const [, name, value] = /^(--[a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined) return [];
    if (value === undefined) return SWITCHES.includes(name) ? [{ name }] : [];
    return [{ name, value }];
  });
}

function spell({ name, value }: Flag): string {
  if (value === undefined) return name;
  return `${name}${value.startsWith('-') ? '=' : ' '}${shellWord(value)}`;
}

export function shellWord(text: string): string {
  return /^[\w./:@%+,=][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
