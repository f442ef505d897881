import { appendFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Page, StreamItem } from '../../src/app/page/page.ts';
import { Project, type ShiftHandle, shellTask } from '../harness.ts';
import { eventually, pageOf } from '../kit/page-of-project.ts';

/** A browser that looks at shifts: it collects what it is told, until it is closed. */
class Watcher {
  readonly items: StreamItem[] = [];
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(page: Page, ids: readonly string[], after?: string) {
    onTestFinished(() => this.close());
    this.#ended = this.#collect(page, ids, after);
  }

  async #collect(page: Page, ids: readonly string[], after?: string): Promise<void> {
    for await (const item of page.stream(ids, after, this.#stop.signal)) this.items.push(item);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  get lastId(): string | undefined {
    return this.items.findLast(({ id }) => id !== undefined)?.id;
  }

  /** The numbers of the events of runs, and who edited. */
  get told(): (number | string)[] {
    return this.items.flatMap(({ message }) =>
      message.kind === 'event' ? [message.event.run === '' ? message.event.type : message.event.seq] : [],
    );
  }

  until(isSeen: (item: StreamItem) => boolean): Promise<true> {
    return eventually(async () => this.items.some(isSeen) && (true as const));
  }

  untilEvent(type: string): Promise<true> {
    return this.until(({ message }) => message.kind === 'event' && message.event.type === type);
  }
}

/** One row waits for a file. */
function night(project: Project, name = 'night'): ShiftHandle {
  return project.shift(name, {
    settings: { agent: 'shell', attempts: 1 },
    table: 'name,work\nant,todo\nbee,todo\n',
    tasks: {
      work: shellTask(
        `echo "looking at {name}"\nwhile [ ! -e ${project.path('.nightshift/go')} ]; do sleep 0.05; done`,
      ),
    },
  });
}

const numbersIn = (shift: ShiftHandle) => shift.journal().map(({ run, type, seq }) => (run === '' ? type : seq));

describe('the live stream', () => {
  test('X8 tells each event of a run once, what is at work, and when the run is over', async () => {
    const project = new Project();
    const shift = night(project);
    const page = pageOf(project);
    const watcher = new Watcher(page, ['night']);
    await watcher.until(({ message }) => message.kind === 'sessions');
    const run = shift.launch();
    await watcher.until(
      ({ message }) => message.kind === 'sessions' && message.sessions[0]?.doing?.includes('looking at ant') === true,
    );
    const { sessions, status } = await page.shift('night');
    expect(status.running).not.toBeNull();
    expect(sessions).toMatchObject([{ row: 1, label: 'ant', role: 'dev', agent: 'shell', attempt: 1, pace: 'usual' }]);
    expect((await page.item('night', { row: '1' })).tasks[0]!.session).toMatchObject({
      doing: expect.stringContaining('looking at ant'),
    });
    expect((await page.project()).shifts[0]).toMatchObject({ runningSince: status.running!.since });
    project.write('.nightshift/go', '');
    await run.ended;
    await watcher.untilEvent('run:finished');
    await watcher.until(
      ({ message }) => message.kind === 'sessions' && message.sessions.length === 0 && watcher.told.length > 1,
    );
    expect(watcher.told).toEqual(numbersIn(shift));
    // Only events, and the beginning, have an id.
    expect(watcher.items.filter(({ id, message }) => (id !== undefined) !== (message.kind === 'event'))[0]).toBe(
      watcher.items[0],
    );
    await eventually(async () => (await page.shift('night')).status.counts.completed === 2);
  });

  test('X8 a reader that comes back, also to a server that was restarted, gets exactly what it has missed', async () => {
    const project = new Project();
    const [shift, other] = [night(project), night(project, 'other')];
    project.write('.nightshift/go', '');
    const first = new Watcher(pageOf(project), ['night', 'other']);
    await first.until(({ id }) => id !== undefined);
    await shift.start(['--rows', '1']);
    await first.untilEvent('run:finished');
    await first.close();
    // The connection was cut in the middle: what came after this message got lost.
    const cut = first.items.findIndex(({ message }) => message.kind === 'event' && message.event.seq === 3);
    const received = first.items.slice(0, cut + 1);
    await project.run(['table', 'night', 'edit', 'name', 'cat', '--row', '1']);
    await project.run(['table', 'night', 'reset', '--row', '1']);
    await project.run(['table', 'night', 'reset', '--row', '2']);
    await other.start();
    await shift.start();
    const second = new Watcher(pageOf(project), ['other', 'night'], received.at(-1)!.id);
    await eventually(async () => {
      const finished = second.items.filter(
        ({ message }) => message.kind === 'event' && message.event.type === 'run:finished',
      );
      return finished.length === 3;
    });
    const all = [...received, ...second.items];
    for (const each of [shift, other]) {
      const told = all.flatMap(({ message }) => {
        return message.kind === 'event' && message.shift === each.name ? [message.event] : [];
      });
      expect(told).toEqual(each.journal());
    }
    expect(shift.journal().filter(({ type }) => type === 'table:edited')).toHaveLength(1);
  });

  test('X8 without an id it begins now, and a page that was never told an event misses none either', async () => {
    const project = new Project();
    const shift = night(project);
    project.write('.nightshift/go', '');
    await shift.start(['--rows', '1']);
    const first = new Watcher(pageOf(project), ['night']);
    await first.until(({ id }) => id !== undefined);
    await first.close();
    expect(first.told).toEqual([]);
    const before = numbersIn(shift).length;
    await shift.start();
    const second = new Watcher(pageOf(project), ['night'], first.lastId);
    await second.untilEvent('run:finished');
    expect(second.told).toEqual(numbersIn(shift).slice(before));
  });

  test('X8 changes that no event tells are told, and shifts that are broken, gone or new are followed', async () => {
    const project = new Project();
    const shift = night(project);
    const page = pageOf(project);
    await page.shift('night');
    const watcher = new Watcher(page, ['night', 'later']);
    await watcher.until(({ id }) => id !== undefined);
    const changes = () =>
      watcher.items.filter(({ message }) => message.kind === 'changed' && message.shift === 'night').length;
    const untilChanged = async (change: () => unknown) => {
      const before = changes();
      await change();
      await eventually(async () => changes() > before);
    };
    await untilChanged(() => appendFileSync(project.path('.nightshift/night/table.csv'), 'cat,todo\n'));
    expect((await page.shift('night')).status.counts.total).toBe(3);
    await untilChanged(() => appendFileSync(project.path('.nightshift/night/table.csv'), '"'));
    await expect(page.shift('night')).rejects.toMatchObject({ code: 'bad-table' });
    await untilChanged(() => project.run(['archive', 'night', '--force']).then(() => project.run(['doctor'])));
    project.write('.nightshift/go', '');
    await night(project, 'later').start(['--rows', '1']);
    await watcher.untilEvent('run:finished');
    expect(watcher.told[0]).toBe(1);
    expect(shift.name).toBe('night');
  });
});
