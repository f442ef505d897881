import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { FailureNote } from '../../parts/failure-note.tsx';
import { bytesText } from '../../parts/format.ts';
import { now } from '../../state/clock.ts';
import { BlockView } from './block-view.tsx';
import { type Block, blocksOf } from './blocks.ts';
import { type TranscriptName, TranscriptPages } from './transcript-pages.ts';
import { TranscriptSearch } from './transcript-search.tsx';
import { useFollowing } from './use-following.ts';

interface TranscriptProps {
  readonly name: TranscriptName;
  /** Only this one is shown, unless something is searched for. */
  readonly attempt: number | undefined;
  /** When the attempt before it ended. */
  readonly startedAfter: string | undefined;
  /** When the attempt ended, if others follow. */
  readonly endedAt: string | undefined;
  /** Its session is at work: new entries are added. */
  readonly isLive: boolean;
}

/** What was said in a session: the end of it first, the rest as far as one scrolls. */
export function Transcript({ name, attempt, startedAfter, endedAt, isLive }: TranscriptProps) {
  const pages = usePages(name, endedAt, isLive);
  const [search, setSearch] = useState('');
  const part = pages.part.value;
  const blocks = useMemo(() => {
    // A hit may be in another attempt.
    const isOther = (block: Block) => search === '' && block.attempt !== undefined && block.attempt !== attempt;
    return blocksOf(part?.entries ?? []).filter((block) => attempt === undefined || !isOther(block));
  }, [part, attempt, search]);
  const sought = search === '' ? attempt : undefined;
  const [before, after] = [pages.bytesBefore(sought), pages.bytesAfter(sought)];
  const isAtEnd = part !== undefined && after === 0;
  const view = useFollowing(part?.to ?? 0, isLive && isAtEnd);
  const [target, showBlock] = useTarget(blocks);
  const show = async (offset: number) => {
    const known = pages.part.value;
    if (!known || offset < known.from || offset >= known.to) await pages.jumpTo(offset);
    view.release();
    showBlock(offset);
  };
  const showPrompt = async () => {
    view.release();
    showBlock(await pages.loadStart(startedAfter));
  };
  return (
    <div class="transcript">
      <div class="buttons">
        <TranscriptSearch name={name} onSearch={setSearch} onShow={show} />
        <button type="button" onClick={() => void showPrompt()}>
          Prompt as sent
        </button>
      </div>
      <FailureNote failure={pages.failure.value} />
      <div class="transcript-view" ref={view.scroller} tabIndex={0} role="log" aria-live="off" aria-label="Transcript">
        {before > 0 && (
          <More text={`Earlier, ${bytesText(before)}`} load={() => pages.loadBefore()} view={view.scroller} />
        )}
        {part && blocks.length === 0 && <p class="dim">Nothing was said here.</p>}
        {blocks.map((block) => (
          <BlockView
            key={block.offset}
            name={name}
            block={block}
            attempt={attempt}
            isTarget={block.offset === target}
            search={search}
          />
        ))}
        {after > 0 && <More text={`Later, ${bytesText(after)}`} load={() => pages.loadAfter()} view={view.scroller} />}
      </div>
      {isLive && isAtEnd && !view.isFollowing && (
        <button type="button" class="follow" onClick={view.follow}>
          Follow the end
        </button>
      )}
      {after > 0 && (
        <button type="button" class="follow" onClick={() => void pages.loadEnd(endedAt)}>
          Go to the end
        </button>
      )}
    </div>
  );
}

/** Scrolls to the block with an offset, once: afterwards the user scrolls. */
function useTarget(blocks: readonly Block[]) {
  const [target, setTarget] = useState<{ readonly offset: number }>();
  const shown = useRef<typeof target>(undefined);
  useEffect(() => {
    if (target === undefined || target === shown.current) return;
    const block = blocks.findLast(({ offset }) => offset <= target.offset);
    const element = document.getElementById(`block-${block?.offset}`);
    if (!element) return;
    shown.current = target;
    element.scrollIntoView({ block: 'start' });
  }, [target, blocks]);
  return [target?.offset, (offset: number) => setTarget({ offset })] as const;
}

function usePages(name: TranscriptName, endedAt: string | undefined, isLive: boolean): TranscriptPages {
  const { shift, task, item, role } = name;
  const pages = useMemo(() => new TranscriptPages({ shift, task, item, role }), [shift, task, item, role]);
  useEffect(() => {
    void pages.loadEnd(endedAt);
    return () => pages.close();
  }, [pages, endedAt]);
  // Every second while the window is visible.
  const tick = isLive ? now.value : 0;
  useEffect(() => {
    const part = pages.part.peek();
    if (tick > 0 && part && part.to >= part.size) void pages.loadAfter();
  }, [tick, pages]);
  return pages;
}

interface MoreProps {
  readonly text: string;
  readonly load: () => Promise<void>;
  readonly view: { readonly current: HTMLElement | null };
}

/** Nearer to the visible part than this, it loads. */
const NEAR_PX = 400;

/** Loads when the user scrolls near it, or presses it. */
function More({ text, load, view }: MoreProps) {
  const button = useRef<HTMLButtonElement>(null);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const scroller = view.current!;
    const onScroll = () => {
      const own = button.current?.getBoundingClientRect();
      const visible = scroller.getBoundingClientRect();
      const isNear = own && own.bottom > visible.top - NEAR_PX && own.top < visible.bottom + NEAR_PX;
      if (isNear) void latest.current();
    };
    scroller.addEventListener('scroll', onScroll, { passive: true });
    return () => scroller.removeEventListener('scroll', onScroll);
  }, [view]);
  return (
    <button type="button" class="more" ref={button} onClick={() => void load()}>
      {text}
    </button>
  );
}
