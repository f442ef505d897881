import { z } from 'zod';
import { addTask } from '../app/add-task.ts';
import { createShift } from '../app/create-shift.ts';
import { importItems, openTable, resetItems } from '../app/edit/edit-items.ts';
import { findShift } from '../app/find-shift.ts';
import { readGivenItems } from '../app/given-table.ts';
import { agentNames } from '../app/names.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { count } from '../core/text/count.ts';
import { resetLine } from '../views/table.ts';
import * as inputs from './inputs.ts';
import { defineTool, type Tool } from './tool.ts';

const createShiftTool = defineTool({
  name: 'create_shift',
  description:
    'Creates a shift: a table whose rows are the items to work through. Next: add_task says what to do with each row.',
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
    const items = await readGivenItems(host, { csv, file });
    const { folder } = await createShift(host, shift, { agent, parallel, items });
    const rows = items?.rowCount ?? 0;
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
  description: `Adds a task to a shift: its file, its status column and its place in the Task Order. Each row goes through all tasks in order.\n${TASK_TEXT}\nNext: preview shows what an agent will be sent.`,
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
    'Adds rows to the table of a shift, also during a run. The header names columns of the table; a status that you omit is todo.',
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

const resetTool = defineTool({
  name: 'reset',
  description:
    'Resets items to todo, so that the next start does them again: all failed items, or the given rows whatever their status (of one task, or of all). Also resets later tasks of these items.',
  input: z.strictObject({
    shift: inputs.shift,
    task: inputs.task.optional(),
    rows: z.array(inputs.row).min(1).max(1000).optional().describe('omit it for all failed items'),
    keep_later: z.boolean().optional().describe('leave the later tasks of these items as they are'),
  }),
  changes: true,
  annotations: { destructiveHint: true, idempotentHint: true },
  async answer(host, { shift, task, rows = [], keep_later: keepLater }) {
    const table = await openTable(host, findShift(host, shift));
    const reset = await resetItems(table, { task, rows: rows.map(String), keepLater });
    return { facts: { shift, ...reset }, lines: [`${resetLine(reset)}.`] };
  },
});

/** Tools that change a shift. */
export const CHANGE_TOOLS: readonly Tool[] = [createShiftTool, addTaskTool, addRowsTool, resetTool];
