import { parseScript, refuseRunOfWritten, type ScriptTemplate } from '../core/language/shell-template.ts';
import { parseTemplate, type Scope } from '../core/language/template.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { versionOf } from '../core/model/identity.ts';
import type { Piece, Task } from '../core/model/shift.ts';
import { badSetting, listOf, type PlacedSetting } from './look-up.ts';
import { type Entry, findUnwritten, stepTexts, type TaskDocument } from './task.ts';
import type { TaskSettings } from './task-settings.ts';

/** Resolves every placeholder of a task, so that it can be filled in for any item. */
export function compileTask(
  { name, file, document }: { readonly name: string; readonly file: string; readonly document: TaskDocument },
  { workingDir, limitPaths, ...settings }: TaskSettings,
  scope: Scope,
  place: Task['place'],
): Omit<Task, 'hasWorkspace'> {
  const { text, sections } = document;
  const entryPieces = (entry: Entry, from: number, to: number) => compilePieces(text, from, to, entry.blocks, scope);
  // When the criteria are judged, the outputs of this task are known.
  const known = settings.outputs.filter((name) => !scope.delivered?.has(name));
  const ofCriteria = { ...scope, columns: new Set([...scope.columns, ...known]) };
  const scripts = (entry: Entry, from = scope) => {
    return entry.blocks.filter(isScript).map((block) => compileScript(block, from));
  };
  const checks = document.criteria.map((entry) => scripts(entry, ofCriteria));
  refuseRunOfWritten([...document.steps.flatMap((entry) => scripts(entry)), ...checks.flat()], scope.file);
  const where = workingDir && { ...scope, file: workingDir.file };
  return {
    name,
    file,
    text,
    version: versionOf(text),
    settings,
    ...compileGlobs(limitPaths, scope),
    place,
    workingDir: where ? parseTemplate(workingDir.setting.value, where, workingDir.setting.line) : { segments: ['.'] },
    document: [
      text.slice(0, sections.steps.start),
      ...compilePieces(text, sections.steps.start, sections.steps.end, blocksOf(document.steps), scope),
      text.slice(sections.steps.end, sections.validation.start),
      ...compilePieces(
        text,
        sections.validation.start,
        sections.validation.end,
        blocksOf(document.criteria),
        ofCriteria,
      ),
      text.slice(sections.validation.end),
    ],
    steps: document.steps.map((entry) => ({
      number: entry.number,
      line: entry.line,
      text: entryPieces(entry, entry.start, entry.end),
      scripts: scripts(entry),
    })),
    criteria: document.criteria.map((entry, i) => compileCriterion(entry, text, ofCriteria, checks[i]!)),
    stepTexts: stepTexts(document),
    unwritten: findUnwritten(document),
  };
}

/** The paths of one row may be limited to its own. */
function compileGlobs(placed: readonly PlacedSetting[], scope: Scope): Pick<Task, 'limitGlobs'> {
  const globs = (key: string) => {
    const found = placed.find(({ setting }) => setting.key === key);
    return listOf(found?.setting.value).map((glob) => {
      const parsed = parseTemplate(glob, { ...scope, file: found!.file }, found!.setting.line);
      if (parsed.segments.every((each) => typeof each === 'string' || each.kind === 'column')) return parsed;
      throw badSetting(found!, 'names more than columns', 'paths are relative to the top of the workspace');
    });
  };
  const limitGlobs = { allow: globs('allow-paths'), deny: globs('deny-paths') };
  return limitGlobs.allow.length + limitGlobs.deny.length === 0 ? {} : { limitGlobs };
}

function compileCriterion(
  entry: Entry,
  text: string,
  scope: Scope,
  scripts: readonly ScriptTemplate[],
): Task['criteria'][number] {
  if (scripts.length > 1) {
    throw new NightshiftError(
      'bad-task',
      `criterion ${entry.number} has ${scripts.length} scripts`,
      'use one block, or one criterion for each',
      { file: scope.file, line: entry.line },
    );
  }
  const [check] = scripts;
  // The text of the criterion, without its check.
  const end = check ? entry.blocks.find(isScript)!.start : entry.end;
  const source = text.slice(entry.start, end);
  const marker = /^\s*[-*+]\s+/.exec(source)?.[0] ?? '';
  const prose = { prose: parseTemplate(source.slice(marker.length).trimEnd(), scope, entry.line) };
  return { line: entry.line, text: [prose], ...(check === undefined ? {} : { check }) };
}

/**
 * Throws `bad-placeholder` if a script could run the value of a placeholder (rule V4). Called before the task is part
 * of a shift, so it does not check whether the placeholder names anything.
 */
export function checkScripts({ steps, criteria }: TaskDocument, file: string, header: readonly string[]): void {
  const scripts = blocksOf([...steps, ...criteria]).filter(isScript);
  const templates = scripts.map(({ code, line }) => {
    const names = [...code.matchAll(/\{(?:ENV:)?([A-Za-z_]\w*)\}/g)].map(([, name]) => name!);
    return parseScript(code, { columns: new Set([...header, ...names]), env: new Set(names), file }, line);
  });
  refuseRunOfWritten(templates, file);
}

type Block = Entry['blocks'][number];

function blocksOf(entries: readonly Entry[]): Block[] {
  return entries.flatMap((entry) => entry.blocks);
}

function isScript(block: Block): boolean {
  return block.info === 'sh' || block.info === 'bash';
}

export function compileScript(
  { code, line, info }: Pick<Block, 'code' | 'line' | 'info'>,
  scope: Scope,
): ScriptTemplate {
  const script = parseScript(code, scope, line);
  return info === 'bash' ? { ...script, shell: 'bash' } : script;
}

/** Fills in prose as text and scripts as code; other fences are prose. */
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
    pieces.push({ script: compileScript(block, scope), indent: indentBefore(text, block) });
    if (!block.code.endsWith('\n')) pieces.push('\n');
    at = Math.max(at, closing + 1);
  }
  prose(to);
  return pieces;
}

/** The width of the text before the fence, which may be the bullet of its criterion. */
function indentBefore(text: string, { start }: Block): string {
  const line = text.slice(text.lastIndexOf('\n', start - 1) + 1);
  return /^[^`~]*/.exec(line)![0].replace(/[^\t]/g, ' ');
}
