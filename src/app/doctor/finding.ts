/** A finding of `doctor`: fine, worth knowing, or a problem. */
export interface Finding {
  readonly level: 'ok' | 'note' | 'problem';
  readonly shift?: string;
  readonly message: string;
  /** More lines. */
  readonly details?: readonly string[];
  /** What you can do. */
  readonly remedy?: string;
  readonly file?: string;
  readonly line?: number;
  /** Whether `doctor --fix` can fix it. */
  readonly fixable?: boolean;
}
