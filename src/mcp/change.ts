import { z } from 'zod';
import { addTask } from '../app/add-task.ts';
import { createShift } from '../app/create-shift.ts';
import { importItems, openTable, resetItems } from '../app/edit/edit-items.ts';
import { findShift } from '../app/find-shift.ts';
import { agentNames } from '../app/names.ts';
import { readGivenItems } from '../app/read-items.ts';
import { parseRow } from '../app/rows.ts';
import { findRun, readAfterStop, stopRun } from '../app/stop-run.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { count } from '../views/plain.ts';
import { stoppedLines } from '../views/stop.ts';
import { resetLine } from '../views/table.ts';
import * as inputs from './inputs.ts';
import { startDetached } from './start-detached.ts';
import { defineTool, type Tool } from './tool.ts';

/** Clients give up on a call after a minute; what is in flight may take longer. */
const STOP_WITHIN_MS = 20_000;

const createShiftTool = defineTool({
  name: 'create_shift',
  description:
    'Makes a new shift: a table whose rows are the items to work through. Next: add_task says what is to be done with each row.',
  input: z.strictObject({
    shift: inputs.shift,
    ...inputs.items,
    parallel: z.boolean().optional().describe('work on several items at once, in batches of adaptive size'),
    agent: z
      .string()
      .optional()
      .describe(
        `who does the work: ${agentNames.join(', ')}; \`shell\` runs the sh blocks of the Steps, without a model`,
      ),
  }),
  changes: true,
  annotations: { destructiveHint: false },
  async answer(host, { shift, csv, file, parallel, agent }) {
    const from = await readGivenItems(host, { csv, file });
    const { folder } = await createShift(host, shift, { agent, parallel, from });
    const rows = from?.rowCount ?? 0;
    return {
      facts: { shift, folder, rows },
      lines: [`${shift} is in ${folder}, with ${count(rows, 'row')}.`, 'Next: add_task.'],
    };
  },
});

const TASK_TEXT = `The text is Markdown with these headings, in this order:
## Configuration (list of \`- key: value\`; may be empty)
## Steps (a numbered list; {column} stands for the row's cell)
## Validation (a list of criteria; one with an indented \`\`\`sh block is checked by running it, and exit code 0 is a pass)`;

const addTaskTool = defineTool({
  name: 'add_task',
  description: `Adds a task to a shift: its file, its status column, its place in the Task Order. Each row goes through all tasks in order.\n${TASK_TEXT}\nNext: preview shows what an agent will get.`,
  input: z.strictObject({ shift: inputs.shift, task: inputs.task, text: z.string().describe('the task file') }),
  changes: true,
  annotations: { destructiveHint: false },
  async answer(host, { shift, task, text }) {
    const { file, warnings } = await addTask(host, findShift(host, shift), task, { text });
    return {
      facts: { shift, task, file },
      lines: [`${task} is in ${file}, and has its column in the table.`, 'Next: preview, then start.'],
      data: warnings.map((warning) => `warning: ${warning}`),
    };
  },
});

const addRowsTool = defineTool({
  name: 'add_rows',
  description:
    'Adds rows to the table of a shift, also while it runs. The header names columns that the table has; statuses that are left out are todo.',
  input: z.strictObject({ shift: inputs.shift, ...inputs.items }),
  changes: true,
  annotations: { destructiveHint: false },
  async answer(host, { shift, csv, file }) {
    const source = await readGivenItems(host, { csv, file });
    if (!source) throw new NightshiftError('usage', 'no rows are given', 'give csv, with a header line, or file');
    const table = await openTable(host, findShift(host, shift));
    const { added, from } = await importItems(table, source);
    return {
      facts: { shift, added, rows: from + added },
      lines: [`${count(added, 'row')} added; ${shift} has ${count(from + added, 'row')} now.`],
    };
  },
});

const startTool = defineTool({
  name: 'start',
  description:
    'Starts a shift in the background, or goes on with it, and returns when it has begun. Agents then work on the items with the rights of the user, unattended. Refused while it runs. `status` says how far it is.',
  input: z.strictObject({
    shift: inputs.shift,
    task: inputs.task.optional().describe('only this task'),
    rows: z.string().optional().describe('only these rows, 1-based: 3, 3:10, 3:, :10 or 3,7,12:20'),
  }),
  changes: true,
  annotations: { destructiveHint: true, openWorldHint: true },
  async answer(host, { shift, task, rows }) {
    const { name } = findShift(host, shift);
    const begun = await startDetached(host, name, { task, rows });
    if (!begun) {
      return { facts: { shift, started: false }, lines: ['Already complete: nothing was left to do.'] };
    }
    const { pid, since, log, limits, warnings } = begun;
    return {
      facts: { shift, started: true, pid, since, log },
      lines: [
        `${shift} runs in the background: process ${pid} since ${since}`,
        `log: ${log}`,
        ...(limits === null ? [] : [`limits: ${limits}`]),
      ],
      data: warnings.map((warning) => `warning: ${warning}`),
    };
  },
});

const resetTool = defineTool({
  name: 'reset',
  description:
    'Sets items back to todo, so that the next start does them again: all that failed, or the named rows whatever their status is (of one task, or of all). Later tasks of these items go back too.',
  input: z.strictObject({
    shift: inputs.shift,
    task: inputs.task.optional(),
    rows: z.array(inputs.row).min(1).max(1000).optional().describe('without them: all that failed'),
    keep_later: z.boolean().optional().describe('leave the later tasks of these items as they are'),
  }),
  changes: true,
  annotations: { destructiveHint: true, idempotentHint: true },
  async answer(host, { shift, task, rows = [], keep_later: keepLater }) {
    const table = await openTable(host, findShift(host, shift));
    const reset = await resetItems(table, { task, named: rows.map(String), parse: parseRow, keepLater });
    return { facts: { shift, ...reset }, lines: [`${resetLine(reset)}.`] };
  },
});

const stopTool = defineTool({
  name: 'stop',
  description:
    'Ends the run of a shift: what is in flight finishes first, or, with now, is given back at once. A later start goes on where it was.',
  input: z.strictObject({ shift: inputs.shift, now: z.boolean().optional() }),
  changes: true,
  annotations: { destructiveHint: true, idempotentHint: true },
  async answer(host, { shift, now = false }) {
    const paths = findShift(host, shift);
    const holder = await findRun(paths);
    if (!holder) {
      return { facts: { shift, running: false, stopped: false }, lines: [`${shift} is not being run.`] };
    }
    const stopped = await stopRun(paths, holder, { now, within: STOP_WITHIN_MS }, host);
    if (!stopped.hasEnded) {
      const line = 'It was asked to stop, and ends when what is in flight has finished; `status` says when.';
      return { facts: { shift, running: true, stopped: false }, lines: [line] };
    }
    const data = stoppedLines(shift, stopped.end, await readAfterStop(host, paths));
    return { facts: { shift, running: false, stopped: true }, lines: ['stopped'], data };
  },
});

export const CHANGING: readonly Tool[] = [createShiftTool, addTaskTool, addRowsTool, startTool, resetTool, stopTool];
