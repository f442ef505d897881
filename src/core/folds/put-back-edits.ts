import type { NightshiftEvent } from '../model/events.ts';

/** An edit of a document that was reverted because items were running. */
export interface PutBackEdit {
  readonly file: string;
  readonly what: string;
  readonly runningItems: readonly { readonly task: string; readonly index: number }[];
}

/** A run may be long. */
const EDITS_AT_MOST = 20;

/** The last few; not those of the table. */
export function withEdit(
  edits: readonly PutBackEdit[] | undefined,
  { file, what, runningItems }: Extract<NightshiftEvent, { type: 'edit:reverted' }>,
): readonly PutBackEdit[] | undefined {
  return runningItems === undefined ? edits : [...(edits ?? []), { file, what, runningItems }].slice(-EDITS_AT_MOST);
}
