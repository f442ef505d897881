import { printable } from '../core/text/printable.ts';
import type { Change } from '../core/workspace/change.ts';
import { lineOf, type Span } from './styled.ts';

/** A patch for a terminal: control characters of files are replaced, and lines are coloured by their kind. */
export function* patchLines(patch: string, colour: boolean): Generator<string> {
  let isInHunk = false;
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    if (line.startsWith('diff --git ')) isInHunk = false;
    else if (line.startsWith('@@')) isInHunk = true;
    const style = isInHunk ? HUNK_STYLES[line[0] ?? ''] : ('bold' as const);
    yield lineOf([{ text: printable(line), style }], Number.POSITIVE_INFINITY, colour);
  }
}

export const PATCH_TOO_LARGE = 'the patch is too large to show: write it to a file, or use --stat';

/** A line for each file that the patch lacks. */
export function tooLargeLines({ files }: Change): string[] {
  return files.filter(({ isTooLarge }) => isTooLarge).map(({ path }) => `${printable(path)} is too large to show`);
}

const HUNK_STYLES: Readonly<Record<string, Span['style']>> = { '+': 'green', '-': 'red', '@': 'cyan' };
