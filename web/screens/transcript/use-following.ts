import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface Following {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly isFollowing: boolean;
  follow(): void;
  release(): void;
}

/** Nearer to the end than this counts as at the end. */
const NEAR_PX = 24;

/** Keeps the end of a growing view visible until the user scrolls up; back at the end, it follows again. */
export function useFollowing(end: number, isGrowing: boolean): Following {
  const scroller = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const isFirst = useRef(true);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const onScroll = () => setFollowing(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  }, []);
  const toEnd = () => {
    if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  };
  // The first part that is loaded is the end.
  useLayoutEffect(() => {
    if (end === 0 || !(isFirst.current || (isGrowing && isFollowing))) return;
    isFirst.current = false;
    toEnd();
  }, [end, isGrowing, isFollowing]);
  return {
    scroller,
    isFollowing,
    follow: () => {
      toEnd();
      setFollowing(true);
    },
    release: () => setFollowing(false),
  };
}
