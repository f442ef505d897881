import { useRef, useState } from 'preact/hooks';
import type { FindAnswer } from '../../../src/core/page/answers.ts';
import { amount } from '../../parts/format.ts';
import { notify } from '../../state/notices.ts';
import { apiPath, ask } from '../../state/request.ts';
import type { TranscriptName } from './transcript-pages.ts';

interface TranscriptSearchProps {
  readonly name: TranscriptName;
  readonly onSearch: (text: string) => void;
  readonly onShow: (offset: number) => Promise<void>;
}

interface Hits {
  readonly offsets: readonly number[];
  readonly isCut: boolean;
  readonly at: number;
}

/** Searches the whole transcript on the server, with Enter. */
export function TranscriptSearch({ name, onSearch, onShow }: TranscriptSearchProps) {
  const [hits, setHits] = useState<Hits>();
  const abort = useRef<AbortController | undefined>(undefined);
  const search = async (text: string) => {
    abort.current?.abort();
    onSearch(text);
    setHits(undefined);
    if (text === '') return;
    abort.current = new AbortController();
    const reply = await ask<FindAnswer>(apiPath('find', { ...name, text }), abort.current.signal);
    if (reply === undefined) return;
    if ('failure' in reply) return notify(reply.failure.message, true);
    const { offsets, isCut } = reply.value;
    // The latest is nearest to what is shown.
    const at = offsets.length - 1;
    setHits({ offsets, isCut, at });
    if (at >= 0) await onShow(offsets[at]!);
  };
  const step = (by: number) => {
    if (!hits || hits.offsets.length === 0) return;
    const at = (hits.at + by + hits.offsets.length) % hits.offsets.length;
    setHits({ ...hits, at });
    void onShow(hits.offsets[at]!);
  };
  return (
    <search class="transcript-search">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const field = event.currentTarget.elements.namedItem('text') as HTMLInputElement;
          void search(field.value.trim());
        }}
      >
        <input
          id="search"
          name="text"
          type="search"
          placeholder="Search the transcript  /"
          aria-label="Search the transcript"
          onInput={({ currentTarget: { value } }) => value === '' && void search('')}
        />
      </form>
      <span role="status">{hits && hitText(hits)}</span>
      {hits && hits.offsets.length > 1 && (
        <>
          <button type="button" aria-label="Previous hit" onClick={() => step(-1)}>
            ↑
          </button>
          <button type="button" aria-label="Next hit" onClick={() => step(1)}>
            ↓
          </button>
        </>
      )}
    </search>
  );
}

function hitText({ offsets, isCut, at }: Hits): string {
  if (offsets.length === 0) return 'not found';
  return `${at + 1} of ${isCut ? 'the first ' : ''}${amount(offsets.length, 'hit')}`;
}
