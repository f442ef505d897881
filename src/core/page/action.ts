import type { ShiftId } from './answers.ts';
import type { RowQuery } from './row-query.ts';

/** `POST /api/act`: does it, or with `isDry` only says what it would do. */
export interface ActRequest {
  readonly shift: ShiftId;
  readonly action: Action;
  readonly isDry?: boolean;
}

/** By identity, since rows may have moved since the page was drawn. */
export type RowChoice = { readonly items: readonly string[] } | { readonly matching: RowQuery };

export type Action =
  | { readonly verb: 'pause' | 'stop'; readonly now?: boolean }
  | { readonly verb: 'resume' }
  | { readonly verb: 'start'; readonly maxCost?: string }
  /** Runs failed items again, in the background. While the shift runs, it only resets them: the run takes them up. */
  | { readonly verb: 'retry'; readonly rows?: RowChoice; readonly task?: string; readonly maxCost?: string }
  | { readonly verb: 'reset'; readonly rows: RowChoice; readonly task?: string }
  /** Takes running items away from the run. */
  | { readonly verb: 'withdraw'; readonly rows: RowChoice; readonly task?: string }
  | CellAction
  | LessonAction
  | { readonly verb: 'restore'; readonly task: string; readonly version: number }
  | { readonly verb: 'deliver'; readonly rows: RowChoice };

/** `was`: what the page showed. If the cell holds something else by now, nothing is changed. */
interface CellAction {
  readonly verb: 'edit';
  readonly item: string;
  readonly column: string;
  readonly was: string;
  readonly value: string;
}

interface LessonAction {
  readonly verb: 'lesson';
  readonly decision: 'accept' | 'reject' | 'pin' | 'ban' | 'undo';
  readonly ids: readonly string[];
}

export interface ActAnswer {
  /** The equivalent command line: `nightshift retry pages --rows 3,7`. */
  readonly command: string;
  /** What it does or did, in a sentence. */
  readonly effect: string;
  /** There is no limit, or the one on cost is used up: ask for `maxCost` first. */
  readonly needsLimit?: true;
}
