/** An item-task that an agent works on. */
export interface RunningItem {
  readonly task: string;
  readonly index: number;
  readonly item: string;
  readonly key: string;
  readonly role: 'dev' | 'qa';
  readonly agent: string;
  /** Milliseconds since 1970, as all times here. */
  readonly since: number;
  attempt: number;
  readonly maxAttempts: number;
  /** The last sign of life: a start, the end of an attempt, something said. */
  lastSign: number;
  /** The last line that was said in its session. */
  said?: string;
}
