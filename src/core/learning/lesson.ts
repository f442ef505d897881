/**
 * `waiting`: recommended, but not by enough rows. `firm`: in the Steps. `retired`: blamed, or out of the budget; fresh
 * recommendations bring it back. `held`: needs a person. `pinned`: stays, whatever rows say. `banned`: never again.
 */
export const LESSON_STATES = ['waiting', 'firm', 'retired', 'held', 'pinned', 'banned'] as const;
export type LessonState = (typeof LESSON_STATES)[number];

/** What one item says; a list has at most one for each item. */
export interface Vote {
  readonly item: string;
  /** 1-based, as in editors. */
  readonly row: number;
  readonly at: string;
}

export interface Blame extends Vote {
  readonly reason: string;
}

export interface Support extends Vote {
  readonly attempts: number;
  readonly agent: string;
  readonly model?: string;
}

interface LessonStanding {
  readonly state: LessonState;
  /** When it got this state, ISO. */
  readonly since: string;
  /** Why it is held, retired or banned. */
  readonly reason?: string;
}

export interface LessonRecord extends LessonStanding {
  /** `L1`, `L2`, ...: unique in the shift, never reused. */
  readonly id: string;
  readonly task: string;
  readonly text: string;
  /** Its text was written to the Steps, and the write is confirmed. */
  readonly inSteps: boolean;
  /** The author's step that it comes after; the last one without it. */
  readonly after?: number;
  /** Other wordings that were recommended, so that they are recognised. */
  readonly wordings?: readonly string[];
  /** The manager's agent gave no usable answer when it was new, so that two rows must recommend it in every mode. */
  readonly ungrouped?: boolean;
  readonly support: readonly Support[];
  readonly credit: readonly Vote[];
  readonly blame: readonly Blame[];
  /** Support up to this time does not admit it again: it left the Steps then. */
  readonly freshFrom?: string;
  /** How often rows blamed it out of the Steps. */
  readonly retirements?: number;
  /** Added or accepted by a person. */
  readonly by?: 'person';
  /** The shift that it comes from. */
  readonly from?: string;
  /** What `undo` goes back to. */
  readonly previous?: LessonStanding;
}

/** All lessons of a shift, as `lessons.json` has them. */
export interface LessonBook {
  readonly version: 1;
  /** The number of the next id. Old lessons may be forgotten, but their ids are not used again. */
  readonly next: number;
  readonly lessons: readonly LessonRecord[];
}

export const NO_LESSONS: LessonBook = { version: 1, next: 1, lessons: [] };

/** One change of a lesson's state; `from` is missing for a new lesson. */
export interface LessonChange {
  readonly id: string;
  readonly task: string;
  readonly text: string;
  readonly from?: LessonState;
  readonly to: LessonState;
  readonly reason?: string;
}

/** Whether a lesson belongs in the Steps. */
export function isApplied({ state }: Pick<LessonRecord, 'state'>): boolean {
  return state === 'firm' || state === 'pinned';
}
