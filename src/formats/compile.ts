import type { Scope } from '../core/language/template.ts';
import { authorSteps } from '../core/learning/in-steps.ts';
import type { FindTraits } from '../core/model/agent-traits.ts';
import { NightshiftError, type Place } from '../core/model/errors.ts';
import type { Setting } from '../core/model/model.ts';
import type { Shift, Task } from '../core/model/shift.ts';
import type { LimitSettings } from '../core/schedule/budget.ts';
import { compileTask } from './compile-task.ts';
import { compileLabel } from './label.ts';
import { type LessonsDocument, NO_LESSONS_FILE } from './lessons.ts';
import { listOf, lookUpIn } from './look-up.ts';
import { type ManagerDocument, readShiftSettings } from './manager.ts';
import { parseTask, refuseOtherShells, replaceSteps, stepTexts, type TaskDocument, taskWarnings } from './task.ts';
import { readTaskSettings } from './task-settings.ts';
import { deliveredOutputs, planWorkspace } from './workspace-plan.ts';
import { compileWorkspace } from './workspace-settings.ts';

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
  const compiled = noting(warnings, () => compileTasks(documents, header, overrides, warnings));
  if (settings.parallel) warnings.push(...compiled.tasks.flatMap(sharedServers));
  return {
    name,
    root,
    folder,
    table,
    ...(label === undefined ? {} : { label }),
    identity: `${settings.name ?? name} ${settings.created ?? ''}`,
    settings: { ...settings, limits: { ...settings.limits, ...overrides.limits } },
    ...compiled,
    secrets: Object.fromEntries(secrets),
    lessons: documents.lessons ?? NO_LESSONS_FILE,
    taskOrder: { file: managerFile, line: manager.orderLine },
    warnings,
  };
}

/** Two browsers in one folder want the same profile, even if each session starts its own server. */
const BROWSER = /browser|playwright|puppeteer|chrom|firefox|selenium|webdriver/i;

/** Items in the same folder share the MCP processes of OpenCode; other agents start their own. */
function sharedServers({ name, settings, workingDir, hasWorkspace }: Task): string[] {
  const isShared = !hasWorkspace && workingDir.segments.every((segment) => typeof segment === 'string');
  if (!isShared) return [];
  const named = settings.tools.filter((tool) => tool !== 'bash');
  const servers = settings.agent === 'opencode' ? named : named.filter((server) => BROWSER.test(server));
  if (servers.length === 0) return [];
  const which = `the MCP server${servers.length > 1 ? 's' : ''} ${servers.join(', ')}`;
  const remedy = '`workspace: worktree` gives each row its own';
  return [
    `${name}: several items at once use ${which} in one folder; for a browser or another server with state, ${remedy}`,
  ];
}

/** A misspelt key may be the reason for an error, so the hint includes the warnings. */
function noting<T>(warnings: readonly string[], work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof NightshiftError ? error.noting(warnings) : error;
  }
}

function compileTasks(
  documents: ShiftDocuments,
  header: readonly string[],
  overrides: Overrides,
  warnings: string[],
): Pick<Shift, 'tasks' | 'workspace'> {
  const { managerFile, manager } = documents;
  const outputs = outputsByTask(documents);
  refuseClashingOutputs(documents, outputs);
  const shared = { file: managerFile, settings: manager.settings };
  const configured = documents.tasks.map(({ name, file, document }) => ({ name, file, settings: document.settings }));
  const plan = planWorkspace(configured, shared, warnings);
  const place = (task: string) => outputsSetting(documents, documents.tasks.find(({ name }) => name === task)!).place;
  const delivered = plan === undefined ? [] : deliveredOutputs(plan, outputs, place);
  const scopes = scopesOf(documents, header, new Set(delivered));
  const tasks = documents.tasks.map((each) => {
    const scope = scopes.get(each.name)!;
    const settings = readTaskSettings(lookUpIn({ ...each, settings: each.document.settings }, shared), overrides);
    const task = {
      ...compileTask(each, settings, scope, placeOf(each, manager.settings, managerFile, overrides)),
      hasWorkspace: plan?.tasks.includes(each.name) ?? false,
    };
    const author = documentOfAuthor(documents, each);
    if (author === undefined) return task;
    return { ...task, withoutLessons: compileTask({ ...each, document: author }, settings, scope, task.place) };
  });
  if (plan === undefined) return { tasks };
  const [before, last] = [scopes.get(plan.tasks[0]!)!, scopes.get(plan.tasks.at(-1)!)!];
  const known = outputs.get(plan.tasks.at(-1)!)!.filter((name) => !delivered.includes(name));
  const after = { ...last, columns: new Set([...last.columns, ...known]) };
  return { tasks, workspace: compileWorkspace(plan, before, after) };
}

/** What placeholders may name in each task. A declared output can be used from the next task on. */
function scopesOf(
  documents: ShiftDocuments,
  header: readonly string[],
  delivered: ReadonlySet<string>,
): Map<string, Scope> {
  const outputs = outputsByTask(documents);
  const env = new Set(documents.secrets.keys());
  const filled = new Set([...outputs.values()].flat());
  // Even if the column of an output does not exist yet.
  const columns = new Set(header.filter((name) => !filled.has(name)));
  const later = new Map([...outputs].flatMap(([task, names]) => names.map((name) => [name, task] as const)));
  return new Map(
    documents.tasks.map(({ name, file }) => {
      const scope = { columns: new Set(columns), env, later, delivered, task: name, file };
      for (const output of outputs.get(name) ?? []) columns.add(output);
      return [name, scope];
    }),
  );
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
    documents.tasks.map(({ name, document }) => [name, listOf(find('outputs', document.settings, shared)?.value)]),
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

function find(key: string, own: readonly Setting[], shared: readonly Setting[]): Setting | undefined {
  return own.find((setting) => setting.key === key) ?? shared.find((setting) => setting.key === key);
}
