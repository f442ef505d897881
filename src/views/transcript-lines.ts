import type { TranscriptEntry } from '../core/events.ts';
import { printable } from './printable.ts';

/** A line of a transcript's file. */
export interface Said extends TranscriptEntry {
  readonly at: string;
  readonly role: string;
  readonly attempt?: number;
}

/** What was said, for a reader: a heading wherever somebody else speaks. */
export class TranscriptLines {
  #speaker = '';

  of(task: string, { at, role, attempt, kind, text }: Said): string[] {
    const speaker = `${task}, ${role}${attempt === undefined ? '' : ` attempt ${attempt}`}, ${kind}`;
    const heading = speaker === this.#speaker ? [] : [`--- ${speaker} (${at})`];
    this.#speaker = speaker;
    const lines = printable(text)
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => `  ${line}`);
    return [...heading, ...lines];
  }
}
