import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type HubMessage, StreamHub, type Viewer } from './stream-hub.ts';

class FakeSource {
  static readonly opened: FakeSource[] = [];
  isClosed = false;
  onopen = () => {};
  onerror = () => {};
  onmessage = (_: { data: string; lastEventId: string }) => {};
  readonly address: string;

  constructor(address: string) {
    this.address = address;
    FakeSource.opened.push(this);
  }

  close(): void {
    this.isClosed = true;
  }

  static get open(): FakeSource[] {
    return FakeSource.opened.filter(({ isClosed }) => !isClosed);
  }
}

function hubWith(count: number) {
  const hub = new StreamHub((address) => new FakeSource(address) as unknown as EventSource);
  const heard: HubMessage[][] = Array.from({ length: count }, () => []);
  const viewers: Viewer[] = heard.map((list) => (message) => void list.push(message));
  const look = (at: number, shifts: readonly string[], isVisible = true) => {
    hub.update(viewers[at]!, { shifts, isVisible });
  };
  return { hub, heard, viewers, look };
}

beforeEach(() => {
  FakeSource.opened.length = 0;
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

test('seven windows share one stream, for all shifts that they look at', () => {
  const { look, heard } = hubWith(7);
  for (let at = 0; at < 7; at++) look(at, [at % 2 === 0 ? 'pages' : 'tests']);
  expect(FakeSource.open.map(({ address }) => address)).toEqual(['/api/stream?shift=pages&shift=tests']);
  FakeSource.open[0]!.onmessage({ data: '{"kind":"changed"}', lastEventId: '' });
  for (const list of heard) expect(list).toContainEqual({ kind: 'message', message: { kind: 'changed' } });
});

test('the stream is closed while no window is visible, and resumes after the last event', () => {
  const { look, hub, viewers } = hubWith(2);
  look(0, ['pages']);
  look(1, ['pages']);
  FakeSource.open[0]!.onmessage({ data: '{}', lastEventId: 'a:7&b' });
  look(0, ['pages'], false);
  expect(FakeSource.open).toHaveLength(1);
  hub.update(viewers[1]!, undefined);
  expect(FakeSource.open).toEqual([]);
  look(0, ['pages']);
  expect(FakeSource.open.map(({ address }) => address)).toEqual(['/api/stream?shift=pages&after=a%3A7%26b']);
});

test('a lost stream is tried again, more and more slowly, until it is back', () => {
  const { look, heard } = hubWith(1);
  look(0, ['pages']);
  FakeSource.open[0]!.onopen();
  for (const wait of [500, 1000, 2000, 4000, 5000, 5000]) {
    FakeSource.open[0]!.onerror();
    expect(FakeSource.open).toEqual([]);
    vi.advanceTimersByTime(wait - 1);
    expect(FakeSource.open).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(FakeSource.open).toHaveLength(1);
    expect(heard[0]!.at(-1)).toEqual({ kind: 'connection', connection: 'lost' });
  }
  FakeSource.open[0]!.onopen();
  expect(heard[0]!.at(-1)).toEqual({ kind: 'connection', connection: 'open' });
});
