import type { TranscriptLine } from '../core/model/events.ts';
import { localTime } from '../core/text/local-time.ts';
import { printable } from '../core/text/printable.ts';
import { rowName } from './row-name.ts';
import { usageText } from './summary.ts';

/** Whose transcript it is. */
interface Session {
  readonly task: string;
  /** 1-based. */
  readonly row: number;
  readonly label: string | undefined;
}

interface Options {
  readonly withPrompts: boolean;
  now(): number;
}

/**
 * A transcript for people, with a heading at each change of speaker. A program's output arrives in pieces of any
 * length: a line is shown when it is complete.
 */
export class TranscriptLines {
  readonly #options: Options;
  /** By speaker: the beginning of a line. */
  readonly #begun = new Map<string, string>();
  #speaker = '';

  constructor(options: Options) {
    this.#options = options;
  }

  of(session: Session, line: TranscriptLine): string[] {
    const { role, attempt, worker } = line;
    const who = `${rowName({ ...session, worker })}: ${session.task}, ${role}${attempt === undefined ? '' : ` attempt ${attempt}`}`;
    const time = localTime(line.at, this.#options.now());
    const speaker = `${who}, ${titleOf(line)}`;
    if (line.kind !== 'text' && line.kind !== 'output' && line.kind !== 'error') {
      // What was said before it is complete.
      return [...this.#finish(`${who}, `, time), ...this.#say(speaker, time, this.#textOf(line))];
    }
    const text = (this.#begun.get(speaker) ?? '') + line.text;
    const end = text.lastIndexOf('\n') + 1;
    this.#begun.set(speaker, text.slice(end));
    return end === 0 ? [] : this.#say(speaker, time, text.slice(0, end));
  }

  /** Lines that have no end. */
  end(): string[] {
    return this.#finish('', localTime(this.#options.now(), this.#options.now()));
  }

  #finish(start: string, time: string): string[] {
    const lines: string[] = [];
    for (const [speaker, text] of this.#begun) {
      if (!speaker.startsWith(start)) continue;
      this.#begun.delete(speaker);
      if (text !== '') lines.push(...this.#say(speaker, time, text));
    }
    return lines;
  }

  #say(speaker: string, time: string, text: string): string[] {
    const heading = speaker === this.#speaker ? [] : [`--- ${printable(speaker)} (${time})`];
    this.#speaker = speaker;
    const lines = printable(text).replace(/\n$/, '').split('\n');
    return [...heading, ...lines.map((line) => `  ${line}`)];
  }

  #textOf(line: TranscriptLine): string {
    if (line.kind === 'usage') return usageText(line.usage) ?? '';
    if (line.kind !== 'prompt' || this.#options.withPrompts) return line.text;
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
