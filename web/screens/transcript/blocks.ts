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

type OpenBlock = Block & { entries: TranscriptEntryAnswer[] };

export function blocksOf(entries: readonly TranscriptEntryAnswer[]): Block[] {
  const blocks: OpenBlock[] = [];
  for (const entry of entries) {
    const { line, offset } = entry;
    const { kind, at, attempt } = line;
    const open = kind === 'tool-result' ? callFor(line, blocks) : IN_PIECES.includes(kind) ? blocks.at(-1) : undefined;
    const isSame = kind === 'tool-result' || open?.kind === kind;
    if (open && isSame && open.attempt === attempt) open.entries.push(entry);
    else blocks.push({ offset, kind, at, attempt, entries: [entry] });
  }
  return blocks;
}

/** The first call of the tool without a result, among those since something was said: several may run side by side. */
function callFor(
  { tool }: Extract<TranscriptLine, { kind: 'tool-result' }>,
  blocks: OpenBlock[],
): OpenBlock | undefined {
  const said = blocks.findLastIndex(({ kind }) => kind !== 'tool-call' && kind !== 'tool-result' && kind !== 'usage');
  return blocks.slice(said + 1).find(({ entries }) => {
    const call = entries[0]?.line;
    return call?.kind === 'tool-call' && call.tool === tool && entries.length === 1;
  });
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
