import { z } from 'zod';
import { findShift } from '../app/find-shift.ts';
import { pauseRun, resumeShift } from '../app/pause-run.ts';
import { startInBackground } from '../app/run/start-in-background.ts';
import { findRun, readAfterStop, stopRun } from '../app/stop-run.ts';
import { stoppedLines } from '../views/stop.ts';
import * as inputs from './inputs.ts';
import { defineTool, type Tool } from './tool.ts';

/** Clients give up on a call after a minute; running items may take longer. */
const STOP_WITHIN_MS = 20_000;

const now = z.boolean().optional().describe('give running items back at once instead of letting them finish');

const leave = z
  .boolean()
  .optional()
  .describe('leave running items with the workers of a fleet; the next start with --fleet adopts them');

const startTool = defineTool({
  name: 'start',
  description:
    'Starts or resumes a shift in the background and returns when the run has begun. Agents then work on the items with the rights of the user, unattended. Fails if the shift is already running. `status` shows the progress.',
  input: z.strictObject({
    shift: inputs.shift,
    task: inputs.task.optional().describe('only this task'),
    rows: z.string().optional().describe('only these rows, 1-based: 3, 3:10, 3:, :10 or 3,7,12:20'),
  }),
  changes: true,
  annotations: { destructiveHint: true, openWorldHint: true },
  async answer(host, { shift, task, rows }) {
    const { name } = findShift(host, shift);
    const begun = await startInBackground(host, name, { task, rows });
    if (!begun) {
      return { facts: { shift, started: false }, lines: ['Already complete: nothing was left to do.'] };
    }
    const { pid, since, log, limits, warnings, paused } = begun;
    return {
      facts: { shift, started: true, pid, since, log },
      lines: [
        `${shift} runs in the background: process ${pid} since ${since}`,
        `log: ${log}`,
        ...(limits === null ? [] : [`limits: ${limits}`]),
        ...(paused === null ? [] : [`paused since ${paused}: resume continues it`]),
      ],
      data: warnings.map((warning) => `warning: ${warning}`),
    };
  },
});

const pauseTool = defineTool({
  name: 'pause',
  description:
    'Pauses the run of a shift: no new item starts until `resume`. Running items finish, or with now are given back. The pause survives the end of the run.',
  input: z.strictObject({ shift: inputs.shift, now }),
  changes: true,
  annotations: { destructiveHint: true, idempotentHint: true },
  async answer(host, { shift, now: isNow = false }) {
    const { running, since } = await pauseRun(findShift(host, shift), isNow, host);
    const idle = since === undefined ? 'is not running: there is nothing to pause' : 'is not running, and paused';
    return {
      facts: { shift, running: running !== null, paused: since !== undefined },
      lines: [`${shift} ${running === null ? idle : 'is paused; resume continues it'}.`],
    };
  },
});

const resumeTool = defineTool({
  name: 'resume',
  description: 'Lifts the pause of a shift. Its run continues, if there is one; otherwise start runs it.',
  input: z.strictObject({ shift: inputs.shift }),
  changes: true,
  annotations: { destructiveHint: true, openWorldHint: true, idempotentHint: true },
  async answer(host, { shift }) {
    const { wasPaused, running } = await resumeShift(findShift(host, shift));
    const isRunning = running !== null;
    const state = wasPaused ? 'is no longer paused' : 'is not paused';
    return {
      facts: { shift, running: isRunning, resumed: wasPaused },
      lines: [`${shift} ${state}; ${isRunning ? 'its run continues' : 'it is not running'}.`],
    };
  },
});

const stopTool = defineTool({
  name: 'stop',
  description:
    'Ends the run of a shift. Running items finish first, or with now are given back at once. A later start resumes where it left off. With leave, the coordinator of a fleet stops at once and its agents keep running.',
  input: z.strictObject({ shift: inputs.shift, now, leave }),
  changes: true,
  annotations: { destructiveHint: true, idempotentHint: true },
  async answer(host, { shift, now: isNow = false, leave: isLeft = false }) {
    const paths = findShift(host, shift);
    const holder = await findRun(paths);
    if (!holder) {
      return {
        facts: { shift, running: false, stopped: false },
        lines: [`${shift} is not running: there is nothing to stop.`],
      };
    }
    const { hasEnded, end } = await stopRun(paths, holder, { now: isNow, leave: isLeft, within: STOP_WITHIN_MS }, host);
    if (!hasEnded) {
      const line = 'Asked it to stop. It ends when running items have finished; `status` shows when.';
      return { facts: { shift, running: true, stopped: false }, lines: [line] };
    }
    const data = stoppedLines(shift, end, await readAfterStop(host, paths));
    return { facts: { shift, running: false, stopped: true }, lines: ['stopped'], data };
  },
});

/** Tools that control a run. */
export const CONTROL_TOOLS: readonly Tool[] = [startTool, pauseTool, resumeTool, stopTool];
