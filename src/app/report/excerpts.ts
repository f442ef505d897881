import { open } from 'node:fs/promises';
import type { History } from '../../core/folds/history.ts';
import type { TranscriptEntry } from '../../core/model/events.ts';
import { itemKey } from '../../core/model/identity.ts';
import type { Status } from '../../core/model/status.ts';
import { cellsAt } from '../../core/schedule/plan.ts';
import { copyOf } from '../../core/text/short-copy.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { OpenShift } from '../open-shift.ts';
import { entriesIn, readTail } from '../run/hear-transcripts.ts';
import type { Excerpt } from './report.ts';

/** How many transcripts are read: those of failed items first. */
const MOST_READ: readonly (readonly [Status, number])[] = [
  ['failed', 500],
  ['qa', 100],
  ['done', 1000],
];
const LONGEST_OUTPUT = 2000;
/** What a person is shown of a transcript; prompts and usage say nothing about how it went. */
const SHOWN = ['text', 'output', 'error', 'note', 'tool-result'];

/** The ends of what agents said and printed, for the items of a report. */
export class Excerpts {
  readonly #shift: Pick<OpenShift, 'snapshot'>;
  readonly #history: History;
  /** By item, and by task and item. */
  readonly #outputs = new Map<string, string>();

  private constructor(shift: Pick<OpenShift, 'snapshot'>, history: History) {
    this.#shift = shift;
    this.#history = history;
  }

  static async read(paths: ShiftPaths, { shift, snapshot }: OpenShift, history: History): Promise<Excerpts> {
    const excerpts = new Excerpts({ snapshot }, history);
    for (const [status, most] of MOST_READ) {
      for (const { row, task } of cellsAt(snapshot, status).slice(0, most)) {
        const item = snapshot.id(row);
        const output = await readOutput(paths.transcript(task, itemKey(shift.identity, task, item), 'dev'));
        excerpts.#outputs.set(`${task} ${item}`, output).set(item, output);
      }
    }
    return excerpts;
  }

  /** `row`: 1-based. */
  of(task: string, { row, label }: { readonly row: number; readonly label?: string }): Excerpt {
    const item = this.#shift.snapshot.id(row - 1);
    const reason = this.#history.of(task, item)?.failure ?? '';
    return { row, label, reason, output: this.#outputs.get(`${task} ${item}`) ?? '' };
  }

  /** Of the last task of the item that was read; undefined if none was. */
  outputOf(item: string): string | undefined {
    return this.#outputs.get(item);
  }
}

/** Empty if there is no transcript. */
async function readOutput(file: string): Promise<string> {
  try {
    await using handle = await open(file, 'r');
    const { size } = await handle.stat();
    const texts = entriesIn(await readTail(handle, size)).flatMap(textOf);
    const end = texts.join('\n').trim();
    return end.length <= LONGEST_OUTPUT ? copyOf(end, LONGEST_OUTPUT) : `…${copyOf(end.slice(1 - LONGEST_OUTPUT))}`;
  } catch {
    return '';
  }
}

function textOf(entry: TranscriptEntry): string[] {
  return SHOWN.includes(entry.kind) && 'text' in entry ? [entry.text] : [];
}
