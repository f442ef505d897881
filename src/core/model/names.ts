import { NightshiftError } from './errors.ts';

const SHIFT_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const TASK_NAME = /^[a-z][a-z0-9_]*$/;
/** Long names break file systems and screens. */
const LONGEST_NAME = 64;
/** Of a column. */
const LONGEST_COLUMN = 200;
const RESERVED_SHIFT_NAMES = ['archive'];

export function checkShiftName(name: string): void {
  if (SHIFT_NAME.test(name) && name.length <= LONGEST_NAME && !RESERVED_SHIFT_NAMES.includes(name)) return;
  const rule = RESERVED_SHIFT_NAMES.includes(name)
    ? `${name} is the folder for archived shifts`
    : `a shift name is kebab-case: lower-case letters, digits and single hyphens, at most ${LONGEST_NAME} characters`;
  throw new NightshiftError('bad-name', `${quote(name)} is not a shift name: ${rule}`, suggestion(name, '-'));
}

export function checkTaskName(name: string): void {
  if (TASK_NAME.test(name) && name.length <= LONGEST_NAME) return;
  const rule = `a task name is snake_case: lower-case letters, digits and underscores, beginning with a letter, at most ${LONGEST_NAME} characters`;
  throw new NightshiftError('bad-name', `${quote(name)} is not a task name: ${rule}`, suggestion(name, '_'));
}

/** A placeholder can only name a column whose name is text on one line, without braces or a prefix. */
export function checkColumnName(name: string): void {
  const rule =
    name.trim() === ''
      ? 'a column needs a name'
      : /^(ENV|SHIFT):/.test(name)
        ? `{${name.slice(0, name.indexOf(':'))}:...} never means a column`
        : /[{}\p{Cc}\p{Zl}\p{Zp}]/u.test(name)
          ? 'it is text on one line, without braces'
          : name !== name.trim() || name.length > LONGEST_COLUMN
            ? `it has at most ${LONGEST_COLUMN} characters, and no space at its ends`
            : undefined;
  if (rule !== undefined) throw new NightshiftError('bad-name', `${quote(name)} is not the name of a column: ${rule}`);
}

function quote(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 77)}...` : name);
}

function joinWords(text: string, joint: '-' | '_'): string {
  const words = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  let joined = words.join(joint).slice(0, LONGEST_NAME);
  while (joined.endsWith(joint)) joined = joined.slice(0, -1);
  return joined;
}

/** The task name that was meant: `write-page` and `Write page` become `write_page`. */
export function taskNameFor(name: string): string {
  if (TASK_NAME.test(name) || !/^[A-Za-z][\w -]*$/.test(name)) return name;
  return nameFor(name, '_');
}

function suggestion(name: string, joint: '-' | '_'): string {
  return `try ${nameFor(name, joint)}`;
}

function nameFor(name: string, joint: '-' | '_'): string {
  let better = joinWords(name, joint);
  if (joint === '_' && !/^[a-z]/.test(better))
    better = `task${better === '' ? '' : `_${better}`}`.slice(0, LONGEST_NAME);
  if (better === '' || RESERVED_SHIFT_NAMES.includes(better)) better = `my${joint}shift`;
  return better;
}

/** A shift name made of any text, such as the name of a file; undefined if there is nothing to make it of. */
export function shiftNameOf(text: string): string | undefined {
  const name = joinWords(text, '-');
  return name === '' || RESERVED_SHIFT_NAMES.includes(name) ? undefined : name;
}

/** The known name that is closest to a mistyped one, if it is close enough. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    const isLike = distance < Math.max(name.length, candidate.length) / 2;
    if (isLike && distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Two swapped letters are one mistake. */
function editDistance(a: string, b: string): number {
  let beforeThat: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwapped ? beforeThat[j - 2]! + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(substitution, swap, previous[j]! + 1, current[j - 1]! + 1));
    }
    [beforeThat, previous] = [previous, current];
  }
  return previous[b.length]!;
}
