import { fillScript, renderForReader, type ScriptTemplate } from '../language/shell-template.ts';
import { fillProse, fillTemplate, type Template, type Values } from '../language/template.ts';
import type { LessonBook } from '../learning/lesson.ts';
import type { LimitGlobs } from '../workspace/limit-globs.ts';
import type { WorkspaceTemplate } from '../workspace/plan.ts';
import type { Place } from './errors.ts';
import type { Criterion, Settings, ShiftSettings, Step, Text } from './model.ts';

/** A shift as its files describe it: parsed, checked and ready to be filled in for any item. */
export interface Shift {
  readonly name: string;
  readonly root: string;
  readonly folder: string;
  readonly table: string;
  /** Item keys are derived from it; it stays the same when the folder is moved. */
  readonly identity: string;
  readonly settings: ShiftSettings;
  /** How rows are named (`label:`); absent: by the first column that tells them apart. */
  readonly label?: Template;
  readonly tasks: readonly Task[];
  /** Absent: all tasks work in `working-dir` itself. */
  readonly workspace?: WorkspaceTemplate;
  readonly secrets: Readonly<Record<string, string>>;
  /** As `lessons.json` has them; `text`: that file, undefined if there is none. */
  readonly lessons: { readonly text: string | undefined; readonly book: LessonBook };
  readonly warnings: readonly string[];
  /** The position of the Task Order. */
  readonly taskOrder: Place;
}

/** What is done with every item, with placeholders by name. Plain JSON: an order carries it. */
export interface TaskTemplate {
  readonly workingDir: Template;
  /** Absent: no path is allowed or denied. */
  readonly limitGlobs?: LimitGlobs;
  readonly document: readonly Piece[];
  readonly steps: readonly {
    readonly number: number;
    readonly line: number;
    readonly text: readonly Piece[];
    readonly scripts: readonly ScriptTemplate[];
  }[];
  readonly criteria: readonly {
    readonly line: number;
    readonly text: readonly Piece[];
    readonly check?: ScriptTemplate;
  }[];
}

export interface Task extends TaskTemplate {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  readonly version: string;
  readonly settings: Settings;
  /** Whether it works in the workspace of the row. */
  readonly hasWorkspace: boolean;
  /** The position of a setting, or where it would be. */
  place(key: string): Place;
  /** The steps as in the file, without their numbers: what a lesson changes. */
  readonly stepTexts: readonly string[];
  /** The task with the author's Steps only, if items are held out. */
  readonly withoutLessons?: TaskTemplate & { readonly version: string };
  /** The first step or criterion that is still the template's: `step 1`. */
  readonly unwritten?: { readonly what: string; readonly line: number } | undefined;
}

/** A part of a task file: literal text, prose with placeholders, or a block that a shell may run. */
export type Piece =
  | string
  | { readonly prose: Template }
  /** `indent`: of its fence. */
  | { readonly script: ScriptTemplate; readonly indent: string };

/** The task for one item, with the values of its placeholders; only secrets still stand by name. */
export interface FilledTask {
  readonly document: Text;
  readonly steps: readonly Step[];
  readonly criteria: readonly Criterion[];
  readonly workingDir: Text;
}

export function fillTask(task: TaskTemplate, values: Values): FilledTask {
  return {
    document: fillPieces(task.document, values),
    steps: task.steps.map(({ number, text, scripts }) => ({
      number,
      text: fillPieces(text, values),
      scripts: scripts.map((script) => fillScript(script, values)),
    })),
    criteria: fillCriteria(task.criteria, values),
    workingDir: fillTemplate(task.workingDir, values),
  };
}

export function fillCriteria(criteria: TaskTemplate['criteria'], values: Values): Criterion[] {
  return criteria.map(({ text, check }) => ({
    text: fillPieces(text, values),
    ...(check === undefined ? {} : { check: fillScript(check, values) }),
  }));
}

/** The columns that the placeholders of criteria name. */
export function columnsNamed(criteria: TaskTemplate['criteria']): Set<string> {
  const inText = criteria.flatMap(({ text }) =>
    text.flatMap((piece) => (typeof piece === 'string' ? [] : 'prose' in piece ? piece.prose.segments : [])),
  );
  const inChecks = criteria.flatMap(({ check }) => check?.parts ?? []);
  const placeholders = [
    ...inText.flatMap((segment) => (typeof segment === 'string' ? [] : [segment])),
    ...inChecks.flatMap((part) => (typeof part === 'string' ? [] : [part.placeholder])),
  ];
  return new Set(placeholders.flatMap(({ kind, name }) => (kind === 'column' ? [name] : [])));
}

function fillPieces(pieces: readonly Piece[], values: Values): Text {
  return pieces.flatMap((piece) => fillPiece(piece, values));
}

function fillPiece(piece: Piece, values: Values): Text {
  if (typeof piece === 'string') return [piece];
  return 'prose' in piece ? fillProse(piece.prose, values) : renderForReader(piece.script, values, piece.indent);
}

/** The values of the placeholders for one item. */
export function valuesOf(
  { name, folder, table }: Pick<Shift, 'name' | 'folder' | 'table'>,
  metadata: Readonly<Record<string, string>>,
): Values {
  return { columns: metadata, shift: { FOLDER: `${folder}/`, NAME: name, TABLE: table } };
}
