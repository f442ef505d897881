import type { Counts } from '../core/model/events.ts';
import type { Section } from './markdown.ts';

/** A line of Progress: its name, and the position of its value in the source. */
export interface ProgressLine {
  readonly key: keyof Counts;
  readonly value: string;
  readonly start: number;
  readonly end: number;
  /** Indentation and bullet, for lines added next to it. */
  readonly lead: string;
}

const PROGRESS_KEYS: Readonly<Record<string, keyof Counts>> = {
  'total items': 'total',
  completed: 'completed',
  failed: 'failed',
  remaining: 'remaining',
};
/** With or without bullet and emphasis. Text after the number (`3 of 10`, `3 (30 %)`) is not part of the value. */
const PROGRESS_LINE =
  /^([ \t]*(?:[-*+][ \t]+)?)[*_]*(total items|completed|failed|remaining)[*_]*[ \t]*:[*_]*[ \t]*[*_`]*(\d+|[^*_`]*[^*_` \t])?/i;

export function progressLines(section: Section): ProgressLine[] {
  return section.lines.flatMap((line) => {
    const [all, lead, name, value = ''] = PROGRESS_LINE.exec(line.active) ?? [];
    if (all === undefined || lead === undefined || name === undefined) return [];
    const end = line.start + all.length;
    return [{ key: PROGRESS_KEYS[name.toLowerCase()]!, value, start: end - value.length, end, lead }];
  });
}

/** The numbers in the file; the first of two lines with the same name counts. */
export function readProgress(section: Section): Partial<Counts> {
  const progress: Partial<Counts> = {};
  for (const { key, value } of progressLines(section)) if (/^\d+$/.test(value)) progress[key] ??= Number(value);
  return progress;
}
