import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, type Failure } from './request.ts';

export interface Answer<T> {
  /** The last good answer to this path, also while it is asked again. */
  readonly value?: T;
  readonly failure?: Failure;
}

interface Known<T> extends Answer<T> {
  readonly path: string;
}

/**
 * Asks when the path or `tick` changes. One request at a time: a change during a request is followed by one more, so
 * that a slow server is not asked faster than it answers.
 */
export function useAnswer<T>(path: string | undefined, tick: unknown): Answer<T> {
  const [known, setKnown] = useState<Known<T>>();
  const asking = useRef<Asking | undefined>(undefined);
  useEffect(() => {
    if (path === undefined) return;
    if (asking.current?.path === path) {
      asking.current.again = true;
      return;
    }
    asking.current?.abort.abort();
    const own: Asking = { path, abort: new AbortController(), again: true };
    asking.current = own;
    void askWhileChanged(own, setKnown).then(() => {
      if (asking.current === own) asking.current = undefined;
    });
  }, [path, tick]);
  useEffect(() => () => asking.current?.abort.abort(), []);
  return known?.path === path ? (known ?? {}) : {};
}

interface Asking {
  readonly path: string;
  readonly abort: AbortController;
  again: boolean;
}

async function askWhileChanged<T>(
  asking: Asking,
  setKnown: (update: (known: Known<T> | undefined) => Known<T>) => void,
): Promise<void> {
  const { path, abort } = asking;
  while (asking.again) {
    asking.again = false;
    const reply = await ask<T>(path, abort.signal);
    if (reply === undefined) return;
    setKnown((known) => ({ ...(known?.path === path && 'failure' in reply ? known : {}), path, ...reply }));
  }
}
