import type { TranscriptEntry } from '../core/model/events.ts';
import { printable } from './printable.ts';
import { usageText } from './summary.ts';

/** A line of a transcript's file. */
export type Said = TranscriptEntry & {
  readonly at: string;
  readonly role: string;
  readonly attempt?: number;
};

/** What was said, for a reader: a heading wherever somebody else speaks. */
export class TranscriptLines {
  readonly #withPrompts: boolean;
  #speaker = '';

  constructor(withPrompts: boolean) {
    this.#withPrompts = withPrompts;
  }

  of(task: string, said: Said): string[] {
    const { at, role, attempt } = said;
    const speaker = `${task}, ${role}${attempt === undefined ? '' : ` attempt ${attempt}`}, ${titleOf(said)}`;
    const heading = speaker === this.#speaker ? [] : [`--- ${printable(speaker)} (${at})`];
    this.#speaker = speaker;
    const lines = printable(this.#textOf(said))
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => `  ${line}`);
    return [...heading, ...lines];
  }

  #textOf(said: Said): string {
    if (said.kind === 'usage') return usageText(said.usage) ?? '';
    if (said.kind !== 'prompt' || this.#withPrompts) return said.text;
    return `(${said.text.length} characters; \`--prompts\` shows them)`;
  }
}

function titleOf(said: Said): string {
  switch (said.kind) {
    case 'tool-call':
      return `calls ${said.tool}`;
    case 'tool-result':
      return `${said.tool} ${said.isError ? 'failed' : 'answered'}`;
    default:
      return said.kind;
  }
}
