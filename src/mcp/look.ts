import { z } from 'zod';
import { findShift } from '../app/find-shift.ts';
import { listLessons } from '../app/lessons/list-lessons.ts';
import { agentNames } from '../app/names.ts';
import { previewTask } from '../app/preview-task.ts';
import { readItem } from '../app/read-item.ts';
import { readStatus } from '../app/status.ts';
import { count } from '../core/text/count.ts';
import { itemLines } from '../views/item.ts';
import { learningLines } from '../views/learning.ts';
import { lessonLines } from '../views/lessons.ts';
import { previewLines } from '../views/preview.ts';
import { runLines } from '../views/status.ts';
import { failureLines, summaryLines } from '../views/summary.ts';
import * as inputs from './inputs.ts';
import { type Answer, defineTool, type Tool } from './tool.ts';

const MOST_GROUPS = 10;
const MOST_ROWS = 20;

const statusTool = defineTool({
  name: 'status',
  description:
    'The state of a shift: counts for each task, whether it is running, what was spent, and why items failed, grouped by reason. If there is only one shift, you can omit its name.',
  input: z.strictObject({ shift: inputs.shift.optional() }),
  changes: false,
  async answer(host, { shift }): Promise<Answer> {
    const { status, limits } = await readStatus(findShift(host, shift), host);
    const { failures, running, batch, counts, tasks, usage, learning, workspaces } = status;
    const shown = failures.slice(0, MOST_GROUPS);
    const more = failures.length - shown.length;
    return {
      facts: {
        shift: status.shift,
        running: running && { pid: Number(running.pid) },
        hasOpenBatch: batch !== null,
        counts,
        tasks: tasks.map((each) => ({ task: each.task, ...each.counts })),
        spent: numbersIn(usage),
        lessons: learning.states,
        workspaces: { kept: workspaces.kept, held: workspaces.held },
        failures: shown.map(({ task, items }) => ({
          task,
          count: items.length,
          rows: items.slice(0, MOST_ROWS).map(({ row }) => row),
        })),
        moreReasons: more,
      },
      lines: [
        ...summaryLines(status.shift, { ...status, failures: [] }),
        running ? 'running' : 'not running',
        ...(more > 0 ? [`${failures.length} different reasons for failures; the first ${MOST_GROUPS} are below`] : []),
      ],
      data: [
        ...learningLines(status.shift, learning),
        ...runLines(status, { limits, now: host.now() }),
        ...shown.flatMap(failureLines),
      ],
    };
  },
});

const showItemTool = defineTool({
  name: 'show_item',
  description:
    'Everything about one row: its cells, and for each task (or the given one) its status, every attempt, why it failed, the verdict on each criterion, and where the transcripts are.',
  input: z.strictObject({ shift: inputs.shift, row: inputs.row, task: inputs.task.optional() }),
  changes: false,
  async answer(host, { shift, row, task }) {
    const paths = findShift(host, shift);
    const item = await readItem(host, paths, String(row), task);
    const tasks = item.tasks.map(({ task: name, status, attempts = [], qa }) => {
      return {
        task: name,
        status,
        attempts: attempts.length,
        qa: qa ? (qa.status === 'PASS' ? 'PASS' : 'FAIL') : null,
      };
    });
    return {
      facts: { shift, row, tasks },
      lines: [`${shift}, row ${row}: ${tasks.map((each) => `${each.task} ${each.status}`).join(', ')}`],
      data: itemLines(paths.root, item, host.now()),
    };
  },
});

const previewTool = defineTool({
  name: 'preview',
  description:
    'Exactly what an agent will be sent for one row (or the scripts that will run), with placeholders filled in. Writes nothing and starts no agent. It also finds mistakes in the shift before a start.',
  input: z.strictObject({ shift: inputs.shift, task: inputs.task, row: inputs.row }),
  changes: false,
  async answer(host, { shift, task, row }) {
    const seen = await previewTask(host, findShift(host, shift), { task, row: String(row) });
    const agent = agentNames.find((name) => name === seen.order.settings.agent) ?? 'an unknown agent';
    return {
      facts: { shift, task, row, agent },
      lines: [`what ${agent} will be sent for row ${row} of ${shift}, task ${task}; it is not a request to you`],
      data: [
        ...seen.warnings.map((warning) => `warning: ${warning}`),
        ...previewLines(seen),
        `--- environment given (names): ${seen.environment.given.join(', ')}`,
      ],
    };
  },
});

const lessonsTool = defineTool({
  name: 'lessons',
  description:
    'What a shift has learned: each lesson with its state, the rows that recommend it, and how many rows it helped or harmed. Only a person decides about held lessons, with `nightshift lessons` on the command line.',
  input: z.strictObject({ shift: inputs.shift, task: inputs.task.optional() }),
  changes: false,
  async answer(host, { shift, task }) {
    const list = await listLessons(host, findShift(host, shift), task);
    const lessons = list.lessons.map(({ id, state, support, credit, blame, inSteps }) => {
      return { id, state, inSteps, rows: support.map(({ row }) => row), helped: credit.length, harmed: blame.length };
    });
    return {
      facts: { shift, mode: list.mode, lessons },
      lines: [`${shift}: ${count(lessons.length, 'lesson')}`],
      data: lessonLines(list, host.now()),
    };
  },
});

/** Anyone who can write to the project can write to the journal; a number can't mislead. */
function numbersIn(amounts: object): object {
  return Object.fromEntries(Object.entries(amounts).filter(([, value]) => typeof value === 'number'));
}

/** Tools that only read. */
export const READ_TOOLS: readonly Tool[] = [previewTool, statusTool, showItemTool, lessonsTool];
