import type { TranscriptLine } from '../../core/model/events.ts';
import { itemKey } from '../../core/model/identity.ts';
import { RowLabels } from '../../core/model/row-labels.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { openAndCheck } from '../open-shift.ts';
import { findRowIndex } from '../rows.ts';
import { followLines } from './follow-run.ts';

/** A line of a transcript, and in whose session it was said. */
export interface TaskTranscriptLine {
  readonly task: string;
  /** 1-based. */
  readonly row: number;
  /** The row's name, if it has one. */
  readonly label: string | undefined;
  readonly line: TranscriptLine;
}

/** What was said about one row (1-based), in the order of time; with `run`, until that run has ended. */
export async function* readTranscripts(
  paths: ShiftPaths,
  row: string,
  run?: string,
): AsyncGenerator<TaskTranscriptLine> {
  const sources = await transcriptFiles(paths, row);
  const waiting: TaskTranscriptLine[] = [];
  const inOrder = () => waiting.splice(0).sort((a, b) => Number(a.line.at > b.line.at) - Number(a.line.at < b.line.at));
  for await (const found of followLines(sources, paths, run)) {
    for (const { lines, tag } of found) {
      for (const line of lines.flatMap((text) => parseTranscriptLine(text) ?? [])) waiting.push({ ...tag, line });
    }
    if (found.length === 0) yield* inOrder();
  }
  yield* inOrder();
}

async function transcriptFiles(
  paths: ShiftPaths,
  row: string,
): Promise<{ file: string; tag: Omit<TaskTranscriptLine, 'line'> }[]> {
  const { shift, snapshot } = await openAndCheck(paths);
  const index = findRowIndex({ shift, snapshot }, row);
  const id = snapshot.id(index);
  const label = RowLabels.in(shift, snapshot)(index);
  return snapshot.tasks.flatMap((task) =>
    ['dev', 'qa'].map((role) => ({
      file: paths.transcript(task, itemKey(shift.identity, task, id), role),
      tag: { task, row: index + 1, label },
    })),
  );
}

/** Undefined if it is damaged, or something else. */
export function parseTranscriptLine(text: string): TranscriptLine | undefined {
  try {
    const line = JSON.parse(text);
    const isLine = typeof line?.text === 'string' || typeof line?.usage === 'object';
    return isLine && typeof line.kind === 'string' ? line : undefined;
  } catch {
    return undefined;
  }
}
