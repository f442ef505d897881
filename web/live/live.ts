import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { NightshiftEvent } from '../../src/core/model/events.ts';
import type { SessionAnswer, ShiftId } from '../../src/core/page/answers.ts';
import type { StreamMessage } from '../../src/core/page/history-answers.ts';
import { type Connection, type HubMessage, StreamHub, type Wish } from './stream-hub.ts';
import { Throttle } from './throttle.ts';

const connection = signal<Connection>('idle');
/** Since when no server has answered. */
export const lostSince = signal<number | undefined>(undefined);

/** A number for each shift that changes with it: what depends on the shift is asked again. */
const ticks = new Map<ShiftId, Signal<number>>();
const sessions = new Map<ShiftId, Signal<readonly SessionAnswer[]>>();
const listeners = new Set<(shift: ShiftId, event: NightshiftEvent) => void>();
const throttle = new Throttle(1000, (shift) => {
  ticksOf(shift).value += 1;
});
/** Ticks with every shift that is followed. */
const ANY = '';

/** For what depends on all shifts. */
export function projectTicks(): Signal<number> {
  return ticksOf(ANY);
}

export function ticksOf(shift: ShiftId): Signal<number> {
  return kept(ticks, shift, () => signal(0));
}

/** Who is at work; also set by each answer about the shift. */
export function sessionsOf(shift: ShiftId): Signal<readonly SessionAnswer[]> {
  return kept(sessions, shift, () => signal([]));
}

export function onEvent(listener: (shift: ShiftId, event: NightshiftEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What depends on the shift is asked again, without waiting for an event. */
export function refresh(shift: ShiftId): void {
  throttle.call(shift);
  throttle.call(ANY);
}

const PARTIAL_MS = 1000;

/** Asks again while an answer is partial. `answer`: the latest one. */
export function useWhole(shift: ShiftId, answer: { readonly isPartial?: boolean } | undefined): void {
  useEffect(() => {
    if (!answer?.isPartial) return;
    const timer = setTimeout(() => refresh(shift), PARTIAL_MS);
    return () => clearTimeout(timer);
  }, [shift, answer]);
}

let followed: readonly ShiftId[] = [];
let tellHub: (wish: Wish | null) => void = () => {};

/** Says which shifts this window looks at. */
export function follow(shifts: readonly ShiftId[]): void {
  followed = shifts;
  tellWish();
}

export function goLive(): void {
  tellHub = connectHub(hear);
  document.addEventListener('visibilitychange', tellWish);
  addEventListener('pageshow', tellWish);
  addEventListener('pagehide', () => tellHub(null));
  tellWish();
}

function tellWish(): void {
  tellHub({ shifts: followed, isVisible: document.visibilityState === 'visible' });
}

/** Without shared workers, as in some browsers on phones, each window has its own stream. */
function connectHub(listen: (message: HubMessage) => void): (wish: Wish | null) => void {
  if (typeof SharedWorker === 'undefined') {
    const hub = new StreamHub((address) => new EventSource(address));
    return (wish) => hub.update(listen, wish ?? undefined);
  }
  const { port } = new SharedWorker(new URL('./stream-worker.ts', import.meta.url), { type: 'module' });
  port.onmessage = ({ data }: MessageEvent<HubMessage>) => listen(data);
  return (wish) => port.postMessage(wish);
}

function hear(heard: HubMessage): void {
  if (heard.kind === 'message') hearMessage(heard.message);
  else setConnection(heard.connection);
}

function setConnection(next: Connection): void {
  const before = connection.value;
  connection.value = next;
  lostSince.value = next === 'lost' ? (lostSince.value ?? Date.now()) : undefined;
  // Something may have changed before the stream was there, and a lost one may mean that the token is void.
  if (next !== before && (next === 'open' || next === 'lost'))
    for (const shift of [...followed, ANY]) throttle.call(shift);
}

function hearMessage(message: StreamMessage): void {
  const { shift } = message;
  if (message.kind === 'sessions') {
    sessionsOf(shift).value = message.sessions;
    return;
  }
  if (message.kind === 'event') for (const listener of listeners) listener(shift, message.event);
  refresh(shift);
}

function kept<T>(map: Map<ShiftId, T>, shift: ShiftId, create: () => T): T {
  const found = map.get(shift) ?? create();
  map.set(shift, found);
  return found;
}
