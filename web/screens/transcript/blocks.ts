import { Doing } from '../../../src/core/folds/doing.ts';
import type { TranscriptLine } from '../../../src/core/model/events.ts';
import type { TranscriptEntryAnswer } from '../../../src/core/page/answers.ts';

/** What is shown together: a text that arrived in pieces, or the call of a tool with its result. */
export interface Block {
  /** The byte offset of its first entry. */
  readonly offset: number;
  readonly kind: TranscriptLine['kind'];
  readonly at: string;
  readonly attempt: number | undefined;
  readonly entries: readonly TranscriptEntryAnswer[];
}

const IN_PIECES: readonly string[] = ['text', 'output', 'error'];

export function blocksOf(entries: readonly TranscriptEntryAnswer[]): Block[] {
  const blocks: (Block & { entries: TranscriptEntryAnswer[] })[] = [];
  for (const entry of entries) {
    const { line, offset } = entry;
    const open = line.kind === 'tool-result' ? blocks.findLast((block) => isCallOf(block, line)) : blocks.at(-1);
    const isMore = open && (line.kind === 'tool-result' || (IN_PIECES.includes(line.kind) && open.kind === line.kind));
    if (open && isMore && open.attempt === line.attempt) open.entries.push(entry);
    else blocks.push({ offset, kind: line.kind, at: line.at, attempt: line.attempt, entries: [entry] });
  }
  return blocks;
}

/** Without a result so far. */
function isCallOf({ entries }: Block, { tool }: Extract<TranscriptLine, { kind: 'tool-result' }>): boolean {
  const call = entries[0]?.line;
  return call?.kind === 'tool-call' && call.tool === tool && entries.length === 1;
}

/** What a call of a tool does, in a few words: `edit src/a.ts`. */
export function callText(line: TranscriptLine): string {
  return line.kind === 'tool-call' ? (new Doing('', undefined).of(line) ?? line.tool) : '';
}

/** The input of a tool, with one line for each value. */
export function inputText(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
