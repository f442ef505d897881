import type { Doing } from './doing.ts';

/** An item-task that an agent works on. */
export interface RunningItem {
  readonly task: string;
  readonly index: number;
  readonly item: string;
  readonly label?: string | undefined;
  readonly key: string;
  readonly role: 'dev' | 'qa';
  readonly agent: string;
  /** Milliseconds since 1970, as all times here. */
  readonly since: number;
  attempt: number;
  readonly maxAttempts: number;
  /** The last sign of life: a start, the end of an attempt, something said. */
  lastSign: number;
  /** Puts what its session says into words. */
  readonly words: Doing;
  /** What its agent does. */
  doing?: string;
}
