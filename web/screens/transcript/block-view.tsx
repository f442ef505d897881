import { useState } from 'preact/hooks';
import type { TranscriptLine } from '../../../src/core/model/events.ts';
import type { TranscriptEntryAnswer } from '../../../src/core/page/answers.ts';
import { amount, costText, timeText } from '../../parts/format.ts';
import { splitAtHits, visibleOutput, visibleText } from '../../parts/visible-text.ts';
import { notify } from '../../state/notices.ts';
import { apiPath, ask } from '../../state/request.ts';
import { type Block, callText, inputText } from './blocks.ts';
import type { TranscriptName } from './transcript-pages.ts';

interface BlockProps {
  readonly name: TranscriptName;
  readonly block: Block;
  /** That is looked at; others are named. */
  readonly attempt: number | undefined;
  /** It was looked for, and is opened. */
  readonly isTarget: boolean;
  readonly search: string;
}

export function BlockView({ name, block, attempt, isTarget, search }: BlockProps) {
  const { kind, offset, entries } = block;
  const first = entries[0]!.line;
  const body = entries.map((entry) => <EntryText key={entry.offset} name={name} entry={entry} search={search} />);
  const isHit = search !== '' && entries.some(({ line }) => textOf(line).toLowerCase().includes(search.toLowerCase()));
  const head = (title: string) => (
    <>
      <span class="block-title">{visibleText(title)}</span> <time class="dim">{timeText(block.at)}</time>
      {attempt !== undefined && block.attempt !== attempt && <span class="tag other">attempt {block.attempt}</span>}
    </>
  );
  if (kind === 'usage') {
    return (
      <p id={`block-${offset}`} class="block is-usage dim">
        {usageText(first)}
      </p>
    );
  }
  if (kind === 'prompt' || kind === 'tool-call' || kind === 'tool-result') {
    const hasFailed = entries.some(({ line }) => line.kind === 'tool-result' && line.isError);
    return (
      <details id={`block-${offset}`} class={`block is-${kind}`} open={isHit || isTarget || undefined}>
        <summary>
          {head(titleOf(first))}
          {hasFailed && <span class="text-failed"> failed</span>}
        </summary>
        {body}
      </details>
    );
  }
  return (
    <div id={`block-${offset}`} class={`block is-${kind}`}>
      <p class="block-head">{head(titleOf(first))}</p>
      {body}
    </div>
  );
}

function titleOf(line: TranscriptLine): string {
  switch (line.kind) {
    case 'prompt':
      return `Prompt as sent, ${amount(line.text.length, 'character')}`;
    case 'tool-call':
      return callText(line);
    case 'tool-result':
      return `${line.tool} answered`;
    case 'text':
      return line.role;
    default:
      return line.kind;
  }
}

function textOf(line: TranscriptLine): string {
  return line.kind === 'usage' ? '' : line.text;
}

function usageText(line: TranscriptLine): string {
  if (line.kind !== 'usage') return '';
  const { inputTokens = 0, outputTokens = 0 } = line.usage;
  const cost = costText(line.usage);
  return `${amount(inputTokens, 'token')} in, ${amount(outputTokens, 'token')} out${cost === undefined ? '' : `, ${cost}`}`;
}

interface EntryProps {
  readonly name: TranscriptName;
  readonly entry: TranscriptEntryAnswer;
  readonly search: string;
}

function EntryText({ name, entry, search }: EntryProps) {
  const [whole, setWhole] = useState<TranscriptLine>();
  const line = whole ?? entry.line;
  const text = line.kind === 'tool-call' ? inputText(line.text) : textOf(line);
  const load = async () => {
    const path = apiPath('entry', { ...name, offset: entry.offset });
    const reply = await ask<TranscriptEntryAnswer>(path, new AbortController().signal);
    if (reply && 'value' in reply) setWhole(reply.value.line);
    else if (reply) notify(reply.failure.message, true);
  };
  const isCode = line.kind !== 'text' && line.kind !== 'note' && line.kind !== 'prompt';
  return (
    <div class={isCode ? 'entry mono' : 'entry'}>
      {line.kind === 'tool-result' && <span class="dim">{line.isError ? 'failed: ' : 'answer: '}</span>}
      {splitAtHits(visibleOutput(text), search).map((piece, number) =>
        number % 2 === 1 ? <mark key={number}>{piece}</mark> : piece,
      )}
      {entry.cut !== undefined && whole === undefined && (
        <button type="button" onClick={() => void load()}>
          Show {amount(entry.cut, 'more character')}
        </button>
      )}
    </div>
  );
}
