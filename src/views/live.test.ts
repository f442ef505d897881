import { expect, test } from 'vitest';
import { ViewState } from '../core/folds/view-state.ts';
import type { Happening, NightshiftEvent } from '../core/model/events.ts';
import { render } from './live.ts';
import { widthOf } from './text-width.ts';

const START = new Date(2026, 0, 2, 22).getTime();
const NOW = START + 3_600_000;

function feed(state: ViewState, second: number, happening: object): void {
  const at = new Date(START + second * 1000).toISOString();
  state.add({ at, run: 'r', seq: 1, shift: 'pages', ...(happening as Happening) } as NightshiftEvent);
}

/** An hour into a night of 10,000 rows. */
function night(reason = 'FAILED (step 2): curl: (6) Could not resolve host: example.test'): ViewState {
  const state = new ViewState();
  const counts = { task: 'write_page', todo: 9000, in_progress: 0, qa: 0, done: 1000, failed: 0, blocked: 0 };
  feed(state, 0, { type: 'run:started', total: 10_000, tasks: ['write_page'], agent: 'command', counts: [counts] });
  for (let i = 0; i < 200; i++) {
    const subject = { task: 'write_page', index: 1000 + i, item: `id${i}`, label: `${1001 + i}.md` };
    const second = Math.round((i * 3500) / 200);
    const usage = { inputTokens: 5200, outputTokens: 410, costUsd: 0.03 };
    feed(state, second, { type: 'dev:started', ...subject, agent: 'command', key: 'k', version: 'v' });
    feed(state, second + 30, { type: 'dev:finished', ...subject, status: 'SUCCESS', attempts: 1, ms: 30_000 });
    feed(state, second + 30, { type: 'usage:spent', ...subject, role: 'dev', agent: 'command', usage });
    const to = i % 90 === 60 ? 'failed' : 'done';
    feed(state, second + 30, {
      type: 'item:recorded',
      ...subject,
      from: 'in_progress',
      to,
      ...(to === 'failed' ? { reason } : {}),
    });
  }
  feed(state, 3530, { type: 'batch:finished', from: 4, to: 8, reason: 'all 4 done', done: 4, failed: 0, returned: 0 });
  for (let i = 0; i < 4; i++) {
    const label = i === 3 ? undefined : `${1201 + i}${'-long'.repeat(5 * i)}.md`;
    const subject = { task: 'write_page', index: 1200 + i, item: `now${i}`, label };
    feed(state, 3400 + 50 * i, { type: 'dev:started', ...subject, agent: 'command', key: 'k', version: 'v' });
  }
  feed(state, 3560, {
    type: 'attempt:finished',
    task: 'write_page',
    item: 'now3',
    attempt: 1,
    status: 'FAILED',
    reason: 'x',
  });
  state.heard('write_page', 'now1', START + 3_550_000);
  state.heard('write_page', 'now1', NOW - 2000, {
    kind: 'output',
    text: 'reading sources/1202.md\nwriting out/1202.html\n',
  });
  return state;
}

const shown = (state: ViewState, width: number, height?: number) =>
  `\n${render(state, height === undefined ? { width } : { width, height }, NOW).join('\n')}\n`;

test('X8 the live view at 80 columns', () => {
  expect(shown(night(), 80)).toMatchInlineSnapshot(`
    "
    pages  █████▒░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  12%  1198/10000 items  1h
    8796 todo · 4 in_progress · 1198 done · 2 failed
    concurrency 8 (4 -> 8: all 4 done) · ends between 4 Jan 10:59 and 5 Jan 06:41
    1040000 tokens in, 82000 out, $6.00
    ! row 1201 1201.md              dev     3m 20s  no sign of life for 3m 20s
    ~ row 1202 1202-long-long-lon…  dev     2m 30s slow  writing out/1202.html
    ~ row 1203 1203-long-long-lon…  dev     1m 40s slow
      row 1204                      dev 2/3    50s
    failed row 1061 1061.md: FAILED (step 2): curl: (6) Could not resolve host: exa…
    failed row 1151 1151.md: FAILED (step 2): curl: (6) Could not resolve host: exa…
    "
  `);
});

test('X8 the live view at 40 columns', () => {
  expect(shown(night(), 40)).toMatchInlineSnapshot(`
    "
    pages  █▒░░░░░░░░░░  12%  1198/10000  1h
    8796 todo · 4 in_progress · 1198 done
    2 failed
    concurrency 8 (4 -> 8: all 4 done)
    ends between 4 Jan 10:59 and 5 Jan 06:41
    1040000 tokens in, 82000 out, $6.00
    ! row 1201 1201.md    dev     3m 20s  n…
    ~ row 1202 1202-lon…  dev     2m 30s sl…
    ~ row 1203 1203-lon…  dev     1m 40s sl…
      row 1204            dev 2/3    50s
    failed row 1061 1061.md: FAILED (step 2…
    failed row 1151 1151.md: FAILED (step 2…
    "
  `);
});

test('X8 the live view at 200 columns', () => {
  expect(shown(night(), 200)).toMatchInlineSnapshot(`
    "
    pages  ███████████████████▒░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  12%  1198/10000 items  1h
    8796 todo · 4 in_progress · 1198 done · 2 failed · concurrency 8 (4 -> 8: all 4 done) · ends between 4 Jan 10:59 and 5 Jan 06:41 · 1040000 tokens in, 82000 out, $6.00
    ! row 1201 1201.md                        dev     3m 20s  no sign of life for 3m 20s
    ~ row 1202 1202-long-long-long-long-lon…  dev     2m 30s slow  writing out/1202.html
    ~ row 1203 1203-long-long-long-long-lon…  dev     1m 40s slow
      row 1204                                dev 2/3    50s
    failed row 1061 1061.md: FAILED (step 2): curl: (6) Could not resolve host: example.test
    failed row 1151 1151.md: FAILED (step 2): curl: (6) Could not resolve host: example.test
    "
  `);
});

test('X8 a window of a few lines shows what is most worth knowing, and how much more there is', () => {
  expect(shown(night(), 80, 5)).toMatchInlineSnapshot(`
    "
    pages  █████▒░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  12%  1198/10000 items  1h
    8796 todo · 4 in_progress · 1198 done · 2 failed
    concurrency 8 (4 -> 8: all 4 done) · ends between 4 Jan 10:59 and 5 Jan 06:41
    1040000 tokens in, 82000 out, $6.00
      and 4 more running
    "
  `);
  for (let height = 0; height < 12; height++) {
    expect(render(night(), { width: 80, height }, NOW).length).toBeLessThanOrEqual(height);
  }
});

test('X8 no line is wider than the window, and no control character of a reason gets through', () => {
  const nasty = '\u001b[2J\u001b]52;c;aGk=\u0007\u202esecond\tline\u009b31m\n日本語のテキスト 👩‍👩‍👧 e\u0301';
  const state = night(nasty);
  state.heard('write_page', 'now2', NOW, { kind: 'output', text: nasty });
  for (let width = 1; width <= 220; width++) {
    for (const line of render(state, { width }, NOW)) {
      expect(widthOf(line), `${width}: ${line}`).toBeLessThanOrEqual(width);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    }
  }
  const text = render(state, { width: 200 }, NOW).join('\n');
  expect(text).toContain('日本語のテキスト 👩‍👩‍👧');
  const styled = render(state, { width: 200, colour: true }, NOW).join('\n');
  expect(styled).toContain('\u001b[31m');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: styles are all that colour adds
  expect(styled.replace(/\u001b\[\d+m/g, '')).toBe(text);
});

test('X8 waiting and stopping are said', () => {
  const state = night();
  feed(state, 3598, { type: 'run:waiting', ms: 60_000, reason: 'exit code 75: rate limit' });
  feed(state, 3599, { type: 'run:draining', signal: 'SIGINT', running: 4 });
  const text = shown(state, 100);
  expect(text).toContain('waiting 58s: exit code 75: rate limit');
  expect(text).toContain('stopping: 4 items may finish');
  expect(text).not.toContain('ends ');
  feed(state, 3599, { type: 'run:stopping', signal: 'SIGINT', running: 4 });
  const stopped = shown(state, 100);
  expect(stopped).toContain('stopping at once: 4 items to give back');
  expect(stopped).not.toContain('may finish');
});

test('X8 X6 a pause is said with what continues, without an estimate, and its time does not count once nothing runs', () => {
  const state = night();
  const since = new Date(START + 3_590_000).toISOString();
  feed(state, 3590, { type: 'run:paused', since, now: false, signal: 'control', running: 4, elapsed: 3_590_000 });
  const line = `paused since 22:59, 4 items may finish; \`nightshift resume pages\` continues`;
  expect(shown(state, 120)).toContain(`\n${line}\n`);
  expect(shown(state, 120)).not.toContain('finishes');
  expect(state.elapsed(NOW)).toBe(3_600_000);
  for (let i = 0; i < 4; i++) {
    feed(state, 3595, { type: 'item:returned', task: 'write_page', item: `now${i}`, reason: 'x', elapsed: 3_595_000 });
  }
  expect(shown(state, 120)).toContain(`\npaused since 22:59; \`nightshift resume pages\` continues\n`);
  expect(state.elapsed(NOW)).toBe(3_595_000);
  feed(state, 3600, { type: 'run:resumed', signal: 'control', running: 0, elapsed: 3_595_000 });
  expect(shown(state, 120)).not.toContain('paused');
});

test('X8 of a reason of many lines the last one is shown', () => {
  const text = shown(night('FAILED (step 1): exit code 1: part 1\npart 2\nno paper\n'), 80);
  expect(text).toContain('failed row 1061 1061.md: … no paper\n');
});

test('X8 widths are those of a terminal', () => {
  expect(['a', '日本', 'e\u0301', '👩‍👩‍👧', '한글', 'ﾊ', '…'].map(widthOf)).toEqual([1, 4, 1, 2, 4, 1, 1]);
});

test('X6 the view has what is spent of each limit, by earlier runs too', () => {
  const state = new ViewState();
  const limits = { 'max-cost': 5, 'max-duration': 8 * 3_600_000, 'max-same-failures': 3 };
  const spent = { usage: { costUsd: 1 }, ms: 3_600_000, failures: 0 };
  feed(state, 0, { type: 'run:started', total: 1, tasks: ['work'], agent: 'claude', hasModel: true, limits, spent });
  feed(state, 9, { type: 'usage:spent', role: 'dev', agent: 'claude', usage: { costUsd: 0.5 } });
  expect(shown(state, 200)).toContain('$1.50 of $5.00 · 2h of 8h\n');
  expect(shown(state, 200)).not.toContain('$0.50');
});

test('X8 the view of a run of a part has how much of the shift that is; rows that come later are not in it', () => {
  const begin = (chosen: number, names: readonly string[]) => {
    const state = new ViewState();
    const none = { todo: chosen, in_progress: 0, qa: 0, done: 0, failed: 0, blocked: 0 };
    const counts = names.map((task) => ({ ...none, task }));
    feed(state, 0, { type: 'run:started', total: 30, tasks: ['make', 'read'], agent: 'shell', counts });
    feed(state, 1, { type: 'table:grew', rows: 1 });
    return shown(state, 200);
  };
  const part = begin(2, ['make', 'read']);
  expect(part).toContain('  0/2 items, 0/4 item-tasks  ');
  expect(part).toContain('4 todo · 0 in_progress · 0 done · 2 of 30 items\n');
  expect(begin(2, ['read'])).toContain(' · 0 done · 2 of 30 items · 1 of 2 tasks\n');
  const task = begin(30, ['read']);
  expect(task).toContain('  0/31 items  ');
  expect(task).toContain(' · 0 done · 1 of 2 tasks\n');
  const all = begin(30, ['make', 'read']);
  expect(all).toContain('  0/31 items, 0/62 item-tasks  ');
  expect(all).not.toContain(' of ');
});

test('L13 the live view says what this run has learned, and what needs you', () => {
  const state = night();
  const change = (id: string, to: string) => feed(state, 3570, { type: 'lesson:changed', task: 'write_page', id, to });
  change('L1', 'waiting');
  for (const id of ['L1', 'L2', 'L3']) change(id, 'firm');
  change('L3', 'retired');
  change('L4', 'held');
  expect(shown(state, 60)).toContain(' · 2 lessons learned\n1 lesson retired · 1 lesson for you to decide\n');
});

test('X8 the view has which qa is running, that the manager folds lessons, and compaction only if it happened', () => {
  const state = new ViewState('/srv/site');
  const none = { todo: 3, in_progress: 0, qa: 0, done: 0, failed: 0, blocked: 0 };
  const counts = ['make', 'read'].map((task) => ({ ...none, task }));
  feed(state, 0, { type: 'run:started', total: 3, tasks: ['make', 'read'], agent: 'claude', counts });
  const [a, b] = [0, 1].map((index) => ({ index, item: `i${index}`, label: `page-${index}`, task: 'make' }));
  for (const item of [a, b]) feed(state, 3500, { type: 'dev:started', ...item, agent: 'claude', key: 'k' });
  const edit = { kind: 'tool-call', tool: 'Edit', text: '{"file_path":"/srv/site/src/a.ts"}', mayWrite: true } as const;
  state.heard('make', 'i1', NOW - 9000, edit);
  state.heard('make', 'i1', NOW - 8000, { kind: 'text', text: 'I have edited the file.' });
  expect(shown(state, 100)).toContain('\n  row 2 page-1  make  dev     1m 40s  edit src/a.ts\n');
  expect(shown(state, 100)).not.toMatch(/compacted|manager/);
  const end = { ...a, status: 'SUCCESS', attempts: 1, ms: 1, key: 'k' };
  feed(state, 3560, { type: 'dev:finished', ...end, compacted: true });
  feed(state, 3560, { type: 'item:recorded', ...a, from: 'in_progress', to: 'qa' });
  feed(state, 3560, { type: 'qa:started', ...a, agent: 'claude', key: 'k' });
  feed(state, 3590, { type: 'fold:started', task: 'make', agent: 'claude' });
  const text = shown(state, 100);
  expect(text).toContain('\n  row 1 page-0  make  qa         40s\n');
  expect(text).toContain('\n  manager  folding lessons of make  10s\n');
  expect(text).toContain('4 todo · 1 in_progress · 1 qa · 0 done');
  expect(text).toContain(' · compacted: row 1 page-0\n');
  feed(state, 3594, { type: 'dev:finished', ...end, ...b, compacted: true });
  expect(shown(state, 100)).toContain(' · compacted: row 2 page-1 (2 times)\n');
  feed(state, 3595, { type: 'fold:finished', task: 'make', ms: 5000 });
  feed(state, 3595, { type: 'qa:finished', ...a, status: 'PASS', ms: 1, key: 'k' });
  feed(state, 3596, { type: 'item:recorded', ...a, from: 'qa', to: 'done' });
  feed(state, 3597, { type: 'item:recorded', ...a, task: 'read', from: 'in_progress', to: 'done' });
  expect(shown(state, 100)).not.toContain('manager');
  expect(shown(state, 100)).toContain('  1/3 items, 2/6 item-tasks  ');
});

test('X8 the bar uses the width of the window, and is full only when nothing is left that could be done', () => {
  const barOf = (width: number, failed: boolean) => {
    const state = new ViewState();
    const none = { todo: 1, in_progress: 0, qa: 0, done: 0, failed: 0, blocked: 0 };
    const counts = ['make', 'read'].map((task) => ({ ...none, task }));
    feed(state, 0, { type: 'run:started', total: 1, tasks: ['make', 'read'], agent: 'shell', counts });
    const item = { index: 0, item: 'i', task: 'make', from: 'in_progress', to: failed ? 'failed' : 'done' };
    feed(state, 1, { type: 'dev:started', ...item, agent: 'shell', key: 'k' });
    feed(state, 2, { type: 'item:recorded', ...item });
    return render(state, { width }, NOW)[0]!;
  };
  for (const width of [40, 60, 100, 160, 200]) expect(widthOf(barOf(width, false))).toBe(width);
  expect(barOf(60, false)).toMatch(/^pages {2}█+░+ {2}50% {2}0\/1 items, 1\/2 item-tasks {2}1h$/);
  // Its second task can't be reached any more.
  expect(barOf(60, true)).toMatch(/^pages {2}▒+ {2}100% {2}0\/1 items, 0\/2 item-tasks {2}1h$/);
});

test('X8 in a fleet, the live view has the worker of each item, how many there are, and what it waits for', () => {
  const state = night();
  for (const [worker, slots] of [
    ['build-3', 8],
    ['build-4', 4],
    ['build-5', 4],
  ]) {
    feed(state, 3500, { type: 'worker:joined', worker, slots, offers: [] });
  }
  feed(state, 3510, { type: 'worker:lost', worker: 'build-5', running: 0 });
  const subject = { task: 'write_page', index: 1300, item: 'far', label: '1301.md', worker: 'build-3' };
  feed(state, 3590, { type: 'dev:started', ...subject, agent: 'command', key: 'k', version: 'v' });
  const text = shown(state, 100);
  expect(text).toMatch(/row 1301 1301\.md +dev {5}on build-3 {4}10s/);
  expect(text).toMatch(/row 1204 +dev 2\/3 {15}50s/);
  expect(text).toContain('2 workers with 12 slots');
  expect(shown(state, 40)).not.toContain('build-3');
  expect(shown(night(), 100)).not.toContain('worker');
  feed(state, 3595, { type: 'fleet:waiting', reason: 'no worker has agent:claude' });
  expect(shown(state, 100)).toContain('waiting for workers: no worker has agent:claude');
  feed(state, 3596, { type: 'fleet:ready', slots: 4 });
  expect(shown(state, 100)).not.toContain('waiting');
  feed(state, 3597, { type: 'item:recorded', ...subject, from: 'in_progress', to: 'failed', reason: 'no ink' });
  expect(shown(state, 100)).toContain('failed row 1301 1301.md on build-3: no ink');
});
