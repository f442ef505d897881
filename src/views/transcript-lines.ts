import type { TranscriptLine } from '../core/model/events.ts';
import { printable } from '../core/text/printable.ts';
import { usageText } from './summary.ts';

/** A transcript for people, with a heading at each change of speaker. */
export class TranscriptLines {
  readonly #withPrompts: boolean;
  #speaker = '';

  constructor(withPrompts: boolean) {
    this.#withPrompts = withPrompts;
  }

  of(task: string, line: TranscriptLine): string[] {
    const { at, role, attempt } = line;
    const speaker = `${task}, ${role}${attempt === undefined ? '' : ` attempt ${attempt}`}, ${titleOf(line)}`;
    const heading = speaker === this.#speaker ? [] : [`--- ${printable(speaker)} (${at})`];
    this.#speaker = speaker;
    const lines = printable(this.#textOf(line))
      .replace(/\n$/, '')
      .split('\n')
      .map((text) => `  ${text}`);
    return [...heading, ...lines];
  }

  #textOf(line: TranscriptLine): string {
    if (line.kind === 'usage') return usageText(line.usage) ?? '';
    if (line.kind !== 'prompt' || this.#withPrompts) return line.text;
    return `(${line.text.length} characters; \`--prompts\` shows them)`;
  }
}

function titleOf(line: TranscriptLine): string {
  switch (line.kind) {
    case 'tool-call':
      return `calls ${line.tool}`;
    case 'tool-result':
      return `${line.tool} ${line.isError ? 'failed' : 'answered'}`;
    default:
      return line.kind;
  }
}
