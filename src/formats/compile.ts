import type { Scope } from '../core/language/template.ts';
import { authorSteps } from '../core/learning/in-steps.ts';
import type { FindTraits } from '../core/model/agent-traits.ts';
import { parseDuration } from '../core/model/duration.ts';
import { NightshiftError, type Place } from '../core/model/errors.ts';
import { ATTEMPTS, MOST_ATTEMPTS, type Setting, type Settings } from '../core/model/model.ts';
import type { Shift, Task } from '../core/model/shift.ts';
import type { LimitSettings } from '../core/schedule/budget.ts';
import { compileTask, type PlacedSetting } from './compile-task.ts';
import { compileLabel } from './label.ts';
import { type LessonsDocument, NO_LESSONS_FILE } from './lessons.ts';
import { type ManagerDocument, readShiftSettings } from './manager.ts';
import { parseTask, refuseOtherShells, replaceSteps, stepTexts, type TaskDocument, taskWarnings } from './task.ts';

/** The files of a shift, each parsed on its own. */
export interface ShiftDocuments {
  readonly name: string;
  readonly root: string;
  readonly folder: string;
  readonly table: string;
  readonly managerFile: string;
  readonly manager: ManagerDocument;
  readonly tasks: readonly { readonly name: string; readonly file: string; readonly document: TaskDocument }[];
  readonly secrets: ReadonlyMap<string, string>;
  /** The text of `.env`, if there is one. */
  readonly env?: string | undefined;
  /** Absent: there are none. */
  readonly lessons?: LessonsDocument;
}

/** Settings of the command line, which win over the files. */
export interface Overrides {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly limits?: LimitSettings;
  /** Finds an agent by its name; absent: the agents that Nightshift has. */
  readonly findAgent?: FindTraits;
}

const DEFAULT_AGENT = 'opencode';
const QA_WORDS = ['auto', 'always', 'parallel'];
const HALF_AN_HOUR = 30 * 60_000;
const TEN_MINUTES = 10 * 60_000;

/** Checks the files against each other and against the table's header, and resolves all placeholders. */
export function compileShift(documents: ShiftDocuments, header: readonly string[], overrides: Overrides = {}): Shift {
  const { name, root, folder, table, managerFile, manager, secrets } = documents;
  const { settings, warnings: ofShift } = readShiftSettings(manager, managerFile);
  const agentOf = (own: readonly Setting[]) => overrides.agent ?? find('agent', own, manager.settings)?.value;
  const ofTasks = documents.tasks.flatMap(({ document, file }) => {
    refuseOtherShells(document, file, agentOf(document.settings), overrides.findAgent);
    return taskWarnings(document, file);
  });
  const warnings = [...ofShift, ...ofTasks];
  const label = compileLabel(find('label', manager.settings, []), metadataColumns(documents, header), managerFile);
  return {
    name,
    root,
    folder,
    table,
    ...(label === undefined ? {} : { label }),
    identity: `${settings.name ?? name} ${settings.created ?? ''}`,
    settings: { ...settings, limits: { ...settings.limits, ...overrides.limits } },
    tasks: noting(warnings, () => compileTasks(documents, header, overrides)),
    secrets: Object.fromEntries(secrets),
    lessons: documents.lessons ?? NO_LESSONS_FILE,
    taskOrder: { file: managerFile, line: manager.orderLine },
    warnings,
  };
}

/** A misspelt key may be the reason for an error, so the hint includes the warnings. */
function noting<T>(warnings: readonly string[], work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof NightshiftError ? error.noting(warnings) : error;
  }
}

function compileTasks(documents: ShiftDocuments, header: readonly string[], overrides: Overrides): Task[] {
  const { managerFile, manager, secrets } = documents;
  const outputs = outputsByTask(documents);
  refuseClashingOutputs(documents, outputs);
  const env = new Set(secrets.keys());
  // A declared output can be used from the next task on, even if its column does not exist yet.
  const filled = new Set([...outputs.values()].flat());
  const columns = new Set(header.filter((name) => !filled.has(name)));
  const later = new Map([...outputs].flatMap(([task, names]) => names.map((name) => [name, task] as const)));
  return documents.tasks.map((each) => {
    const scope: Scope = { columns: new Set(columns), env, later, task: each.name, file: each.file };
    for (const output of outputs.get(each.name) ?? []) columns.add(output);
    const place = placeOf(each, manager.settings, managerFile, overrides);
    const settings = readTaskSettings(each, manager.settings, managerFile, overrides);
    const task = compileTask(each, settings, scope, place);
    const author = documentOfAuthor(documents, each);
    if (author === undefined) return task;
    return { ...task, withoutLessons: compileTask({ ...each, document: author }, settings, scope, place) };
  });
}

/** The task without its lessons, if some items are done without them. */
function documentOfAuthor(
  { lessons, manager, managerFile }: ShiftDocuments,
  { name, file, document }: ShiftDocuments['tasks'][number],
): TaskDocument | undefined {
  const { mode, holdout } = readShiftSettings(manager, managerFile).settings.lessons;
  if (lessons === undefined || mode === 'off' || holdout === 0) return undefined;
  const steps = stepTexts(document);
  const own = authorSteps(lessons.book, name, steps);
  if (own.length === 0 || own.length === steps.length) return undefined;
  return parseTask(replaceSteps(document.text, own), file);
}

/** The columns that each task fills with captured values, in Task Order. */
export function outputsByTask(documents: Pick<ShiftDocuments, 'tasks' | 'manager'>): Map<string, readonly string[]> {
  const shared = documents.manager.settings;
  return new Map(
    documents.tasks.map(({ name, document }) => [name, names(find('outputs', document.settings, shared)?.value)]),
  );
}

/** The columns that hold no status, including outputs that are not in the table yet. */
function metadataColumns(documents: ShiftDocuments, header: readonly string[]): Set<string> {
  const outputs = outputsByTask(documents);
  return new Set([...header, ...[...outputs.values()].flat()].filter((column) => !outputs.has(column)));
}

/** The task that fills a column, and where it declares it. */
export function outputPlace(
  documents: ShiftDocuments,
  column: string,
): ({ task: string } & Required<Pick<Place, 'file' | 'line'>>) | undefined {
  const [task] = [...outputsByTask(documents)].find(([, names]) => names.includes(column)) ?? [];
  const found = documents.tasks.find(({ name }) => name === task);
  return found && { task: found.name, ...outputsSetting(documents, found).place };
}

function outputsSetting(
  { manager, managerFile }: ShiftDocuments,
  { file, document }: ShiftDocuments['tasks'][number],
): { isOwn: boolean; place: Required<Pick<Place, 'file' | 'line'>> } {
  const own = document.settings.find(({ key }) => key === 'outputs');
  if (own) return { isOwn: true, place: { file, line: own.line } };
  const shared = manager.settings.find(({ key }) => key === 'outputs');
  return { isOwn: false, place: { file: managerFile, line: shared?.line ?? 1 } };
}

function refuseClashingOutputs(documents: ShiftDocuments, outputs: ReadonlyMap<string, readonly string[]>): void {
  const owner = new Map<string, string>();
  for (const task of documents.tasks) {
    const { name } = task;
    const { isOwn, place } = outputsSetting(documents, task);
    const hint = isOwn ? 'give the output another name' : 'declare it in the Configuration of the task that fills it';
    for (const output of outputs.get(name) ?? []) {
      const other = owner.get(output);
      const clash = outputs.has(output)
        ? `the output ${output} of ${name} has the name of a task, whose column is for statuses`
        : other !== undefined && `the output ${output} is declared by ${other} and by ${name}`;
      if (clash) throw new NightshiftError('bad-task', clash, hint, place);
      owner.set(output, name);
    }
  }
}

/** For errors that show only when the files are put together: the line of the setting, or else the Configuration. */
function placeOf(
  { file, document }: ShiftDocuments['tasks'][number],
  shared: readonly Setting[],
  managerFile: string,
  overrides: Overrides,
): (key: string) => Place {
  return (key) => {
    if (key === 'agent' && overrides.agent !== undefined) return {};
    const own = document.settings.find((setting) => setting.key === key);
    const general = own ?? shared.find((setting) => setting.key === key);
    if (general) return { file: own ? file : managerFile, line: general.line };
    return { file, line: document.text.slice(0, document.sections.configuration.start).split('\n').length - 1 };
  };
}

/** A task's Configuration wins over the Shift Configuration (rule X1); the command line wins over both. */
function readTaskSettings(
  task: ShiftDocuments['tasks'][number],
  shared: readonly Setting[],
  managerFile: string,
  overrides: Overrides,
): Settings & { workingDir?: PlacedSetting } {
  const lookUp = (key: string): PlacedSetting | undefined => {
    const own = task.document.settings.find((setting) => setting.key === key);
    if (own) return { setting: own, file: task.file };
    const general = shared.find((setting) => setting.key === key);
    return general && { setting: general, file: managerFile };
  };
  const value = (key: string) => lookUp(key)?.setting.value || undefined;
  const duration = (key: string, fallback: number) => {
    const found = lookUp(key);
    if (!found || found.setting.value === '') return fallback;
    const parsed = parseDuration(found.setting.value);
    if (parsed !== undefined) return parsed;
    const message = `\`${key}: ${found.setting.value}\` is not a time`;
    throw new NightshiftError('bad-task', message, 'write it like 90s, 30m or 2h', {
      file: found.file,
      line: found.setting.line,
    });
  };
  const integer = (key: string, fallback: number, [least, most]: readonly [number, number]) => {
    const found = lookUp(key);
    if (!found || found.setting.value === '') return fallback;
    const { value: text, line } = found.setting;
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    const message = `\`${key}: ${text}\` is not a number from ${least} to ${most}`;
    throw new NightshiftError('bad-task', message, `write it like \`- ${key}: ${fallback}\``, {
      file: found.file,
      line,
    });
  };
  const isNone = (key: string) => /^(none|0+)$/.test(value(key) ?? '');
  const qa = lookUp('qa');
  const wanted = names(qa?.setting.value);
  if (qa && wanted.some((word) => !QA_WORDS.includes(word))) {
    const message = `\`qa: ${qa.setting.value}\` is not one of ${QA_WORDS.join(', ')}`;
    const hint = 'write auto, always, parallel, or `always, parallel`';
    throw new NightshiftError('bad-task', message, hint, { file: qa.file, line: qa.setting.line });
  }
  const protect = lookUp('protect');
  const outside = names(protect?.setting.value).find((glob) => glob.startsWith('/') || glob.split('/').includes('..'));
  if (protect && outside !== undefined) {
    const message = `\`protect: ${outside}\` leads out of the working folder`;
    const hint = 'name files in it, like dist/** or data/*.db';
    throw new NightshiftError('bad-task', message, hint, { file: protect.file, line: protect.setting.line });
  }
  const workingDir = lookUp('working-dir');
  const optional = {
    command: value('command'),
    acpCommand: value('acp-command'),
    model: overrides.model ?? value('model'),
    qaAgent: value('qa-agent'),
    qaModel: value('qa-model'),
  };
  return {
    agent: overrides.agent ?? value('agent') ?? DEFAULT_AGENT,
    tools: names(value('tools')),
    qa: wanted.includes('always') ? 'always' : 'auto',
    qaParallel: wanted.includes('parallel'),
    attempts: integer('attempts', ATTEMPTS, [1, MOST_ATTEMPTS]),
    qaRetries: integer('qa-retries', 0, [0, MOST_ATTEMPTS - 1]),
    retryDelayMs: isNone('retry-delay') ? 0 : duration('retry-delay', 0),
    timeoutMs: duration('timeout', HALF_AN_HOUR),
    checkTimeoutMs: duration('check-timeout', TEN_MINUTES),
    outputs: names(value('outputs')),
    passEnv: names(value('pass-env')),
    protect: names(value('protect')),
    ...withoutAbsent(optional),
    ...(workingDir === undefined ? {} : { workingDir }),
  };
}

function withoutAbsent(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

function find(key: string, own: readonly Setting[], shared: readonly Setting[]): Setting | undefined {
  return own.find((setting) => setting.key === key) ?? shared.find((setting) => setting.key === key);
}

function names(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
