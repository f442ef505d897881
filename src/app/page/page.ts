import type { ActAnswer, ActRequest } from '../../core/page/action.ts';
import type {
  DiffAnswer,
  FindAnswer,
  ItemAnswer,
  ProjectAnswer,
  RowsAnswer,
  ShiftAnswer,
  ShiftId,
  TranscriptAnswer,
  TranscriptEntryAnswer,
} from '../../core/page/answers.ts';
import type {
  ChartsAnswer,
  JournalAnswer,
  StepsAnswer,
  StepsDiffAnswer,
  StreamMessage,
} from '../../core/page/history-answers.ts';
import type { RowQuery, RowSpan } from '../../core/page/row-query.ts';

/**
 * What the local page asks of a project: one method for each request of `core/page`. Wrong input, a shift that is gone
 * and files that can't be read throw a `NightshiftError`; anything else that is thrown is a bug. Reading never writes.
 * Dispose of it to end its streams and what it reads in the background.
 */
export interface Page extends AsyncDisposable {
  /** A shift that can't be read is listed with its problem. */
  project(): Promise<Pick<ProjectAnswer, 'root' | 'shifts'>>;
  shift(id: ShiftId): Promise<ShiftAnswer>;
  /** At most 1,000 rows at once. */
  rows(id: ShiftId, query: RowQuery, span: RowSpan): Promise<RowsAnswer>;
  item(id: ShiftId, item: ItemName): Promise<ItemAnswer>;
  diff(id: ShiftId, item: ItemName): Promise<DiffAnswer>;
  transcript(id: ShiftId, session: SessionName, part?: TranscriptPart): Promise<TranscriptAnswer>;
  entry(id: ShiftId, session: SessionName, offset: number): Promise<TranscriptEntryAnswer>;
  /** Ends early, with what was found, when `signal` aborts. */
  find(id: ShiftId, session: SessionName, text: string, signal?: AbortSignal): Promise<FindAnswer>;
  steps(id: ShiftId, task: string): Promise<StepsAnswer>;
  stepsDiff(
    id: ShiftId,
    task: string,
    versions: { readonly from: number; readonly to: number },
  ): Promise<StepsDiffAnswer>;
  charts(id: ShiftId): Promise<ChartsAnswer>;
  journal(id: ShiftId, filter: JournalFilter): Promise<JournalAnswer>;
  /** Does it, or says what it would do. */
  act(request: ActRequest): Promise<ActAnswer>;
  /**
   * Follows shifts until `signal` aborts. `after`: the id of the last message that was received; without it, from now
   * on. A shift that can't be read now is followed as soon as it can be.
   */
  stream(ids: readonly ShiftId[], after: string | undefined, signal: AbortSignal): AsyncIterable<StreamItem>;
}

/** An identity, or a 1-based row or its label, as typed. */
export type ItemName = { readonly item: string } | { readonly row: string };

/** Names one transcript. */
export interface SessionName {
  readonly task: string;
  readonly item: string;
  readonly role: 'dev' | 'qa';
}

/** Byte offsets: what follows `from`, or what ends at `before`. */
export type TranscriptPart = { readonly from: number } | { readonly before: number };

export interface JournalFilter {
  readonly type?: string | undefined;
  readonly task?: string | undefined;
  readonly item?: string | undefined;
  /** `before` of the answer that it continues. */
  readonly before?: string | undefined;
}

/** Only events have an id. */
export interface StreamItem {
  readonly id?: string;
  readonly message: StreamMessage;
}
