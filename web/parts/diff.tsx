import { useState } from 'preact/hooks';
import { amount } from './format.ts';
import { splitFiles } from './split-files.ts';
import { visibleOutput, visibleText } from './visible-text.ts';

const FIRST_LINES = 500;

/** Lines that begin with `+`, `-`, `@@` or a space. Long ones are shown in part at first. */
export function DiffLines({ lines }: { readonly lines: readonly string[] }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? lines : lines.slice(0, FIRST_LINES);
  return (
    <div class="diff">
      <pre>
        {shown.map((line, number) => (
          <span key={number} class={`diff-line ${classOf(line)}`}>
            {`${visibleOutput(line)}\n`}
          </span>
        ))}
      </pre>
      {shown.length < lines.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show {amount(lines.length - shown.length, 'more line')}
        </button>
      )}
    </div>
  );
}

function classOf(line: string): string {
  if (line.startsWith('+')) return 'is-added';
  if (line.startsWith('-')) return 'is-removed';
  return line.startsWith('@@') ? 'is-place' : '';
}

/** Few files are shown at once. */
const OPEN_FILES = 3;

/** The change of a row, file by file. */
export function Diff({ text }: { readonly text: string }) {
  const files = splitFiles(text);
  return (
    <div>
      {files.map(({ name, lines, added, removed }, number) => (
        <details key={name} class="diff-file" open={number < OPEN_FILES}>
          <summary>
            <span class="mono">{visibleText(name)}</span> <span class="text-done">+{added}</span>{' '}
            <span class="text-failed">-{removed}</span>
          </summary>
          <DiffLines lines={lines} />
        </details>
      ))}
    </div>
  );
}
