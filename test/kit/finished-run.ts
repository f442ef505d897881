import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { openAndCheck } from '../../src/app/open-shift.ts';
import { itemKey } from '../../src/core/model/identity.ts';
import { statusAt } from '../../src/core/schedule/plan.ts';
import { shiftPaths } from '../../src/store/folder/layout.ts';

const AT_ONCE_ROWS = 1000;
/** What a template has instead of a value. It stands for JSON, quotes included. */
const MARK = /"\$(\w+)"/;

/**
 * Writes the journal of runs that have ended all rows of a table as the table says, `done` or `failed`, as the agent
 * `shell` does it: about 2 KB for each row and run.
 */
export async function writeFinishedRuns(root: string, name: string, runs = 1): Promise<void> {
  const paths = shiftPaths(root, name);
  const { shift, snapshot } = await openAndCheck(paths);
  const task = snapshot.tasks[0]!;
  mkdirSync(dirname(paths.journal), { mode: 0o700, recursive: true });
  const fd = openSync(paths.journal, 'w', 0o600);
  for (let run = 0; run < runs; run++) {
    const text = new RunText({ shift: name, task, run: `r${run}`, startedAt: Date.UTC(2026, 0, 2) + run * 60_000 });
    let lines = text.started(snapshot.count);
    for (let row = 0; row < snapshot.count; row++) {
      const item = snapshot.id(row);
      const key = itemKey(shift.identity, task, item);
      lines += text.row({ row, item, key, isDone: statusAt(snapshot, row, 0) === 'done' });
      if (row % AT_ONCE_ROWS < AT_ONCE_ROWS - 1) continue;
      writeSync(fd, lines);
      lines = '';
    }
    writeSync(fd, lines + text.finished(snapshot.count));
  }
  closeSync(fd);
}

interface EndedRow {
  readonly row: number;
  readonly item: string;
  readonly key: string;
  readonly isDone: boolean;
}

interface RunOptions {
  readonly shift: string;
  readonly task: string;
  readonly run: string;
  readonly startedAt: number;
}

type Fill = (values: Readonly<Record<string, string>>) => string;

/** The lines of one run. Rows are filled into templates, because to write each line as JSON takes ten times as long. */
class RunText {
  readonly #options: RunOptions;
  readonly #done: Fill;
  readonly #failed: Fill;
  #seq = 0;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#done = this.#template(true);
    this.#failed = this.#template(false);
  }

  started(total: number): string {
    const { task } = this.#options;
    const counts = [{ task, todo: total, in_progress: 0, qa: 0, done: 0, failed: 0, blocked: 0 }];
    const state = { total, tasks: [task], parallel: true, stream: true, agent: 'shell', pid: 1, counts };
    return this.#line({ type: 'run:started', ...state, recovered: 0, waiting: 0, limits: {}, flags: [] });
  }

  finished(total: number): string {
    const end = { exitCode: 3, reason: 'finished, with failed items', ms: 1000 };
    return this.#line({ type: 'run:finished', ...end, total, completed: total, failed: 0, remaining: 0 });
  }

  row({ row, item, key, isDone }: EndedRow): string {
    const values = { row: String(row), item: `"${item}"`, key: `"${key}"`, label: `"item-${row + 1}"` };
    const reason = `"FAILED (step 1): exit code ${1 + (row % 7)}, and it printed nothing"`;
    const at = JSON.stringify(new Date(this.#options.startedAt + row).toISOString());
    return (isDone ? this.#done : this.#failed)({ ...values, reason, at, ms: String(100 + (row % 997)) });
  }

  #template(isDone: boolean): Fill {
    const { task } = this.#options;
    const about = { task, index: '$row', item: '$item', label: '$label' };
    const why = isDone ? {} : { reason: '$reason' };
    const status = isDone ? 'SUCCESS' : 'FAILED (step 1)';
    const work = { status, attempts: 1, ms: '$ms', key: '$key', captured: {}, recommendations: [] };
    const verdicts = [{ criterion: '`true`', status: 'PASS', checked: true }];
    const qa = [
      { type: 'item:recorded', ...about, from: 'in_progress', to: 'qa' },
      { type: 'qa:started', ...about, agent: 'shell', key: '$key' },
      { type: 'qa:finished', ...about, status: 'PASS', ms: 1, verdicts, usage: {}, key: '$key' },
      { type: 'item:recorded', ...about, from: 'qa', to: 'done' },
    ];
    const lines = [
      { type: 'batch:claimed', task, indices: ['$row'], size: 1 },
      { type: 'dev:started', ...about, agent: 'shell', key: '$key', version: '25f3d69212a3', maxAttempts: 3 },
      { type: 'attempt:finished', ...about, attempt: 1, status, maxAttempts: 3, ...why },
      { type: 'dev:finished', ...about, ...work, usage: { costUsd: 0.01 }, compacted: false, agent: 'shell', ...why },
      ...(isDone ? qa : [{ type: 'item:recorded', ...about, from: 'in_progress', to: 'failed', ...why }]),
      { type: 'progress', done: '$row', total: '$row', itemTasks: { done: '$row', total: '$row' }, compacted: false },
    ];
    const { shift, run } = this.#options;
    const parts = lines
      .map(({ type, ...fields }) => ({ type, at: '$at', run, seq: '$seq', elapsed: 1000, shift, ...fields }))
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('')
      .split(MARK);
    return (values) => {
      let text = '';
      for (let i = 0; i < parts.length; i++) {
        const part = parts[i]!;
        text += i % 2 === 0 ? part : part === 'seq' ? ++this.#seq : values[part];
      }
      return text;
    };
  }

  #line(fields: Readonly<Record<string, unknown>>): string {
    const { shift, run, startedAt } = this.#options;
    const { type, ...rest } = fields;
    const at = new Date(startedAt).toISOString();
    return `${JSON.stringify({ type, at, run, seq: ++this.#seq, elapsed: 0, shift, ...rest })}\n`;
  }
}
