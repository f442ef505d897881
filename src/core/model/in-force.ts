import { isLowerLimit, LIMIT_KEYS, type LimitKey } from '../schedule/budget.ts';
import type { Setting } from './model.ts';

/** The parts of `manager.md` that decide how items are done: its settings and its tasks. The rest is free text. */
export interface ManagerTerms {
  readonly settings: readonly Setting[];
  readonly tasks: readonly { readonly name: string }[];
}

interface SettingChange {
  readonly key: string;
  /** Absent if it was not set. */
  readonly from?: string;
  /** Absent if it is not set any more. */
  readonly to?: string;
}

/** What an edit of `manager.md` changes. */
export interface ManagerEdit {
  /** Takes effect at once, even if an agent wrote it: it can only restrict the run. */
  readonly taken: readonly SettingChange[];
  /** While items are running, only you can change it, with a command. */
  readonly refused: readonly SettingChange[];
  readonly taskOrder?: { readonly from: readonly string[]; readonly to: readonly string[] };
}

/** `now`: the start of the run, which decides the day of a clock time. */
export function judgeManagerEdit(inForce: ManagerTerms, edited: ManagerTerms, now: number): ManagerEdit {
  const changes = settingChanges(inForce.settings, edited.settings);
  const from = inForce.tasks.map(({ name }) => name);
  const to = edited.tasks.map(({ name }) => name);
  const isSameTaskOrder = from.length === to.length && from.every((name, i) => name === to[i]);
  return {
    taken: changes.filter((change) => isOnlyLower(change, now)),
    refused: changes.filter((change) => !isOnlyLower(change, now)),
    ...(isSameTaskOrder ? {} : { taskOrder: { from, to } }),
  };
}

export function isHarmless({ refused, taskOrder }: ManagerEdit): boolean {
  return refused.length === 0 && taskOrder === undefined;
}

function settingChanges(before: readonly Setting[], after: readonly Setting[]): SettingChange[] {
  const [was, is] = [before, after].map((settings) => new Map(settings.map((each) => [each.key, textOf(each)])));
  const keys = new Set([...was!.keys(), ...is!.keys()]);
  return [...keys].flatMap((key) => {
    const [from, to] = [was!.get(key), is!.get(key)];
    if (from === to) return [];
    return [{ key, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }];
  });
}

/** The value, or the script below the key. */
function textOf({ value, blocks = [] }: Setting): string {
  return [value, ...blocks.map(({ code }) => code.trim().replaceAll('\n', '; '))]
    .filter((text) => text !== '')
    .join(' ');
}

function isOnlyLower({ key, from, to }: SettingChange, now: number): boolean {
  // Capped by `max-batch-size`, which stays in force.
  if (key === 'current-batch-size') return true;
  if (key === 'max-batch-size') return isLowerCount(from, to);
  // Pausing a task does not limit spending.
  if (key === 'max-same-failures' || !LIMIT_KEYS.includes(key as LimitKey)) return false;
  return isLowerLimit(key as LimitKey, from, to, now);
}

function isLowerCount(from: string | undefined, to: string | undefined): boolean {
  const count = (text: string) => (/^[1-9]\d*$/.test(text) ? Number(text) : undefined);
  const lower = to === undefined ? undefined : count(to);
  return lower !== undefined && lower < ((from === undefined ? undefined : count(from)) ?? Number.POSITIVE_INFINITY);
}

/** Describes the refused changes. The values come from the file: mask them. */
export function managerEditText({ refused, taskOrder }: ManagerEdit): string {
  const list = (names: readonly string[]) => names.join(', ') || '(empty)';
  return [
    ...refused.map(({ key, from, to }) => `${key}: ${from ?? '(not set)'} -> ${to ?? '(not set)'}`),
    ...(taskOrder === undefined ? [] : [`Task Order: ${list(taskOrder.from)} -> ${list(taskOrder.to)}`]),
  ].join('; ');
}
