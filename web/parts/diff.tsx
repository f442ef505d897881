import { useState } from 'preact/hooks';
import { amount } from './format.ts';
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

interface FileDiff {
  readonly name: string;
  readonly lines: readonly string[];
  readonly added: number;
  readonly removed: number;
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

/** At the lines `diff --git a/NAME b/NAME`. */
export function splitFiles(text: string): FileDiff[] {
  const parts = text.split(/^(?=diff --git )/m).filter((part) => part.trim() !== '');
  return parts.map((part) => {
    const [head = '', ...lines] = part.replace(/\n$/, '').split('\n');
    const isFile = head.startsWith('diff --git ');
    const body = isFile
      ? lines.slice(
          Math.max(
            0,
            lines.findIndex((line) => line.startsWith('@@')),
          ),
        )
      : [head, ...lines];
    const count = (sign: string) => body.filter((line) => line.startsWith(sign)).length;
    return { name: isFile ? nameIn(head) : 'change', lines: body, added: count('+'), removed: count('-') };
  });
}

function nameIn(head: string): string {
  return / b\/(.*)$/.exec(head)?.[1] ?? head.slice('diff --git '.length);
}
