import { parseDuration } from '../core/duration.ts';
import { NightshiftError, type Place } from '../core/errors.ts';
import { versionOf } from '../core/identity.ts';
import { LIMIT_KEYS, type SetLimits } from '../core/limits.ts';
import type { Setting, Settings } from '../core/model.ts';
import { parseScript } from '../core/shell-template.ts';
import type { Piece, Shift, Task } from '../core/shift.ts';
import { parseTemplate, type Scope } from '../core/template.ts';
import { type ManagerDocument, readShiftSettings } from './manager.ts';
import { type Entry, stepTexts, type TaskDocument, taskWarnings } from './task.ts';

/** The files of a shift, each parsed by itself. */
export interface ShiftDocuments {
  readonly name: string;
  readonly root: string;
  readonly folder: string;
  readonly table: string;
  readonly managerFile: string;
  readonly manager: ManagerDocument;
  readonly tasks: readonly { readonly name: string; readonly file: string; readonly document: TaskDocument }[];
  readonly secrets: ReadonlyMap<string, string>;
}

/** What the command line says over the files. */
export interface Overrides {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly limits?: SetLimits;
}

const DEFAULT_AGENT = 'opencode';
const QA_WORDS = ['auto', 'always', 'parallel'];
const HALF_AN_HOUR = 30 * 60_000;
const TEN_MINUTES = 10 * 60_000;

/** Checks the files against each other and against the table's header, and makes them ready to be filled in. */
export function compileShift(documents: ShiftDocuments, header: readonly string[], overrides: Overrides = {}): Shift {
  const { name, root, folder, table, managerFile, manager, secrets } = documents;
  const { settings, warnings } = readShiftSettings(manager, managerFile);
  const outputs = outputsByTask(documents);
  refuseClashingOutputs(documents, outputs);
  refuseLimitsOfTasks(documents);
  const env = new Set(secrets.keys());
  // A declared output counts from the task after the one that fills it, whether its column is there yet or not.
  const filled = new Set([...outputs.values()].flat());
  const columns = new Set(header.filter((name) => !filled.has(name)));
  const later = new Map([...outputs].flatMap(([task, names]) => names.map((name) => [name, task] as const)));
  const tasks = documents.tasks.map((each) => {
    const scope: Scope = { columns: new Set(columns), env, later, file: each.file };
    for (const output of outputs.get(each.name) ?? []) columns.add(output);
    const place = placeOf(each, manager.settings, managerFile, overrides);
    return compileTask(each, readTaskSettings(each, manager.settings, managerFile, overrides), scope, place);
  });
  return {
    name,
    root,
    folder,
    table,
    identity: `${settings.name ?? name} ${settings.created ?? ''}`,
    settings: { ...settings, limits: { ...settings.limits, ...overrides.limits } },
    tasks,
    secrets: Object.fromEntries(secrets),
    taskOrder: { file: managerFile, line: manager.orderLine },
    warnings: [...warnings, ...documents.tasks.flatMap(({ document, file }) => taskWarnings(document, file))],
  };
}

/** The columns that each task fills with captured values, in Task Order. */
export function outputsByTask(documents: Pick<ShiftDocuments, 'tasks' | 'manager'>): Map<string, readonly string[]> {
  const shared = documents.manager.settings;
  return new Map(
    documents.tasks.map(({ name, document }) => [name, names(find('outputs', document.settings, shared)?.value)]),
  );
}

function refuseClashingOutputs(documents: ShiftDocuments, outputs: ReadonlyMap<string, readonly string[]>): void {
  const owner = new Map<string, string>();
  for (const { name, file, document } of documents.tasks) {
    const own = document.settings.find(({ key }) => key === 'outputs');
    const shared = documents.manager.settings.find(({ key }) => key === 'outputs');
    const place = own ? { file, line: own.line } : { file: documents.managerFile, line: shared?.line ?? 1 };
    const hint = own ? 'give the output another name' : 'declare it in the Configuration of the task that fills it';
    for (const output of outputs.get(name) ?? []) {
      const other = owner.get(output);
      const clash = outputs.has(output)
        ? `the output ${output} of ${name} has the name of a task, whose column holds statuses`
        : other !== undefined && `the output ${output} is declared by ${other} and by ${name}`;
      if (clash) throw new NightshiftError('bad-task', clash, hint, place);
      owner.set(output, name);
    }
  }
}

/** Rule X6: they are the shift's; overlooked in a task's Configuration they would cost money. */
function refuseLimitsOfTasks({ tasks }: ShiftDocuments): void {
  for (const { file, document } of tasks) {
    const limit = document.settings.find(({ key }) => (LIMIT_KEYS as readonly string[]).includes(key));
    if (!limit) continue;
    const hint = 'write it into the Shift Configuration of manager.md';
    throw new NightshiftError('bad-task', `\`${limit.key}\` is a limit of the shift, not of a task`, hint, {
      file,
      line: limit.line,
    });
  }
}

/** For errors that only show when all is put together: what a file did not say is looked for in the Configuration. */
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

type SettingReader = { readonly setting: Setting; readonly file: string } | undefined;

/** A task's Configuration wins over the Shift Configuration (rule X1); the command line wins over both. */
function readTaskSettings(
  task: ShiftDocuments['tasks'][number],
  shared: readonly Setting[],
  managerFile: string,
  overrides: Overrides,
): Settings & { workingDir?: SettingReader } {
  const lookUp = (key: string): SettingReader => {
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

function compileTask(
  { name, file, document }: ShiftDocuments['tasks'][number],
  { workingDir, ...settings }: Settings & { workingDir?: SettingReader },
  scope: Scope,
  place: Task['place'],
): Task {
  const { text, sections } = document;
  const entryPieces = (entry: Entry, from: number, to: number) => compilePieces(text, from, to, entry.blocks, scope);
  const scripts = (entry: Entry) => {
    return entry.blocks.filter(isScript).map((block) => parseScript(block.code, scope, block.line));
  };
  const where = workingDir && { ...scope, file: workingDir.file };
  return {
    name,
    file,
    text,
    version: versionOf(text),
    settings,
    place,
    workingDir: where ? parseTemplate(workingDir.setting.value, where, workingDir.setting.line) : { segments: ['.'] },
    document: [
      text.slice(0, sections.steps.start),
      ...compilePieces(text, sections.steps.start, sections.steps.end, blocksOf(document.steps), scope),
      text.slice(sections.steps.end, sections.validation.start),
      ...compilePieces(text, sections.validation.start, sections.validation.end, blocksOf(document.criteria), scope),
      text.slice(sections.validation.end),
    ],
    steps: document.steps.map((entry) => ({
      number: entry.number,
      line: entry.line,
      text: entryPieces(entry, entry.start, entry.end),
      scripts: scripts(entry),
    })),
    criteria: document.criteria.map((entry) => compileCriterion(entry, text, scope, scripts(entry))),
    stepTexts: stepTexts(document),
  };
}

function compileCriterion(
  entry: Entry,
  text: string,
  scope: Scope,
  scripts: ReturnType<typeof parseScript>[],
): Task['criteria'][number] {
  if (scripts.length > 1) {
    throw new NightshiftError(
      'bad-task',
      `criterion ${entry.number} has ${scripts.length} \`sh\` blocks`,
      'make it one block, or a criterion for each',
      { file: scope.file, line: entry.line },
    );
  }
  const [check] = scripts;
  // The words that say what must be true; the check itself stands beside them.
  const end = check ? entry.blocks.find(isScript)!.start : entry.end;
  const source = text.slice(entry.start, end);
  const marker = /^\s*[-*+]\s+/.exec(source)?.[0] ?? '';
  const prose = { prose: parseTemplate(source.slice(marker.length).trimEnd(), scope, entry.line) };
  return { line: entry.line, text: [prose], ...(check === undefined ? {} : { check }) };
}

type Block = Entry['blocks'][number];

function blocksOf(entries: readonly Entry[]): Block[] {
  return entries.flatMap((entry) => entry.blocks);
}

function isScript(block: Block): boolean {
  return block.info === 'sh';
}

/** Prose is filled in as text, `sh` blocks as code; other fences are prose. */
function compilePieces(text: string, from: number, to: number, blocks: readonly Block[], scope: Scope): Piece[] {
  const pieces: Piece[] = [];
  let at = from;
  const prose = (end: number) => {
    if (end <= at) return;
    const line = text.slice(0, at).split('\n').length;
    pieces.push({ prose: parseTemplate(text.slice(at, end), scope, line) });
    at = end;
  };
  for (const block of blocks.filter(isScript)) {
    prose(text.indexOf('\n', block.start) + 1);
    const closing = text.lastIndexOf('\n', block.end - 1);
    pieces.push({ script: parseScript(block.code, scope, block.line), indent: indentBefore(text, block) });
    if (!block.code.endsWith('\n')) pieces.push('\n');
    at = Math.max(at, closing + 1);
  }
  prose(to);
  return pieces;
}

/** As wide as what stands before the fence, which may be the bullet of its criterion. */
function indentBefore(text: string, { start }: Block): string {
  const line = text.slice(text.lastIndexOf('\n', start - 1) + 1);
  return /^[^`~]*/.exec(line)![0].replace(/[^\t]/g, ' ');
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
