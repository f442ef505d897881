import { parseDuration } from '../core/model/duration.ts';
import { NightshiftError } from '../core/model/errors.ts';
import type { Counts } from '../core/model/events.ts';
import type { Sequence, Setting, ShiftSettings } from '../core/model/model.ts';
import { checkTaskName } from '../core/model/names.ts';
import { LIMIT_KEYS, readLimits } from '../core/schedule/budget.ts';
import { LESSON_KEYS, readLessonSettings } from './lesson-settings.ts';
import { refuseLostLimits } from './limit-lines.ts';
import { headOf, listItems } from './list.ts';
import { setProgress, setSetting } from './manager-edit.ts';
import { readProgress } from './manager-progress.ts';
import type { Section } from './markdown.ts';
import { findSections, scan } from './markdown.ts';
import { requireClosed, requireSection } from './required.ts';
import {
  plainSettings,
  readSettings,
  refuseDuplicates,
  settingWarnings,
  TASK_KEYS,
  unquote,
  WORKSPACE_SHIFT_KEYS,
} from './settings.ts';

export { addTask, createManager, restoreTerms, setProgress, setSetting } from './manager-edit.ts';

/** The content of `manager.md`. */
export interface ManagerDocument {
  readonly text: string;
  readonly settings: readonly Setting[];
  /** Lines of Shift Configuration that are list items but not settings. */
  readonly strays: readonly number[];
  readonly tasks: readonly TaskEntry[];
  /** The line of `## Task Order`. */
  readonly orderLine: number;
  /** The Progress section, if there is one. */
  readonly progress?: Readonly<Partial<Counts>>;
}

interface TaskEntry {
  readonly name: string;
  readonly line: number;
}

const SHIFT_KEYS = [
  'name',
  'created',
  'parallel',
  'current-batch-size',
  'max-batch-size',
  'label',
  'disable-self-improvement',
  ...LESSON_KEYS,
  'patience',
  'report',
  'dispatch',
  'order',
  ...WORKSPACE_SHIFT_KEYS,
];
const DEFAULT_PATIENCE_MS = 15 * 60_000;

/** Throws `bad-manager`, or `bad-name` for an invalid task name. */
export function parseManager(text: string, file: string): ManagerDocument {
  const document = scan(text);
  requireClosed(document, 'bad-manager', file);
  const configuration = requireSection(document, 'Shift Configuration', 'bad-manager', file);
  const taskOrder = requireSection(document, 'Task Order', 'bad-manager', file);
  const progress = findSections(document, 'Progress')[0];
  const { settings, strays } = readSettings(configuration);
  refuseLostLimits({
    ...{ document, configuration, settings, file },
    prose: [],
    keys: [...SHIFT_KEYS, ...LIMIT_KEYS, ...TASK_KEYS],
    ofShift: true,
  });
  refuseDuplicates(settings, 'bad-manager', file);
  return {
    text,
    settings: plainSettings(settings),
    strays,
    tasks: readTasks(taskOrder, file),
    orderLine: taskOrder.heading.number,
    ...(progress && { progress: readProgress(progress) }),
  };
}

function readTasks(section: Section, file: string): TaskEntry[] {
  const tasks: TaskEntry[] = [];
  for (const item of listItems(section.lines, 'numbered')) {
    const line = item.lines[0]!.number;
    const name = unquote(headOf(item));
    if (name === '' || name.startsWith('#')) continue;
    checkTaskNameAt(name, file, line);
    const earlier = tasks.find((task) => task.name === name);
    if (earlier !== undefined) {
      const hint = `remove it from line ${earlier.line} or line ${line}`;
      throw new NightshiftError('bad-manager', `the task ${name} is in the Task Order twice`, hint, { file, line });
    }
    tasks.push({ name, line });
  }
  const bullet = listItems(section.lines, 'bullets')[0];
  if (tasks.length === 0 && bullet !== undefined) {
    const line = bullet.lines[0]!.number;
    throw new NightshiftError('bad-manager', 'Task Order is not a numbered list', 'write `1. task_name`', {
      file,
      line,
    });
  }
  return tasks;
}

function checkTaskNameAt(name: string, file: string, line: number): void {
  try {
    checkTaskName(name);
  } catch (error) {
    if (!(error instanceof NightshiftError)) throw error;
    throw new NightshiftError(error.code, error.message, error.hint, { file, line });
  }
}

/** The shift's own settings; keys of a task stay in `settings` as defaults for all tasks. */
export function readShiftSettings(
  document: ManagerDocument,
  file: string,
): { settings: ShiftSettings; warnings: string[] } {
  const warnings = settingWarnings(document, [...SHIFT_KEYS, ...LIMIT_KEYS, ...TASK_KEYS], file);
  const find = (key: string) => document.settings.find((setting) => setting.key === key);
  const read = <T>(key: string, parse: (value: string) => T | undefined, expected: string): T | undefined => {
    const setting = find(key);
    const value = setting && parse(setting.value);
    if (setting && value === undefined) {
      warnings.push(`ignored \`${key}: ${setting.value}\` (${file} line ${setting.line}): ${expected}`);
    }
    return value;
  };
  const name = find('name')?.value;
  const created = find('created')?.value;
  const parallel = read('parallel', parseBoolean, 'it is `true` or `false`; items run one at a time') ?? false;
  const readSize = (key: string) => (parallel ? read(key, parsePositive, 'it is not a positive integer') : undefined);
  const batchSize = readSize('current-batch-size');
  const maxBatchSize = readSize('max-batch-size');
  const isDisabled = read('disable-self-improvement', parseBoolean, 'it is `true` or `false`');
  const isStream = read('dispatch', parseDispatch, 'it is `batch` or `stream`; items run in batches') ?? false;
  const stream = isStream && parallel;
  if (isStream && !parallel)
    warnings.push(`\`dispatch: stream\` needs \`parallel: true\` (${file}); items run one at a time`);
  const sequence = read('order', parseSequence, 'it is `rows` or `tasks`') ?? (parallel ? 'tasks' : 'rows');
  const patienceMs = read('patience', parseDuration, 'write a duration such as `15m`');
  const hasReport = read('report', parseBoolean, 'it is `true` or `false`; a report is written') ?? true;
  const settings: ShiftSettings = {
    ...(name && { name }),
    ...(created && { created }),
    parallel,
    stream,
    sequence,
    ...(batchSize !== undefined && { batchSize }),
    ...(maxBatchSize !== undefined && { maxBatchSize }),
    lessons: readLessonSettings(find, isDisabled, file),
    patienceMs: patienceMs ?? DEFAULT_PATIENCE_MS,
    isPatienceSet: patienceMs !== undefined,
    hasReport,
    limits: readLimits(
      (key) => find(key)?.value,
      (key, problem, hint) => {
        const { value, line } = find(key)!;
        return new NightshiftError('bad-manager', `\`${key}: ${value}\` ${problem}`, hint, { file, line });
      },
    ),
  };
  return { settings, warnings };
}

/** `text` with what a run has written to the file since: Progress and the batch size of `now`. */
export function carryOver(text: string, now: string, file: string): string {
  const { progress = {}, settings } = parseManager(now, file);
  const size = settings.find(({ key }) => key === 'current-batch-size');
  const sized = size === undefined ? text : setSetting(text, size.key, size.value);
  const { total, completed, failed, remaining } = progress;
  if (total === undefined || completed === undefined || failed === undefined || remaining === undefined) return sized;
  return setProgress(sized, { total, completed, failed, remaining });
}

function parseBoolean(value: string): boolean | undefined {
  const lower = value.toLowerCase();
  return lower === 'true' ? true : lower === 'false' || lower === '' ? false : undefined;
}

function parsePositive(value: string): number | undefined {
  const size = /^\d+$/.test(value) ? Number(value) : 0;
  return size > 0 && Number.isSafeInteger(size) ? size : undefined;
}

function parseDispatch(value: string): boolean | undefined {
  return value === 'stream' ? true : value === 'batch' ? false : undefined;
}

function parseSequence(value: string): Sequence | undefined {
  return value === 'rows' || value === 'tasks' ? value : undefined;
}
