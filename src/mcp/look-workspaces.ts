import { z } from 'zod';
import { findShift } from '../app/find-shift.ts';
import { diffRow } from '../app/workspaces/diff-row.ts';
import { listWorkspaces } from '../app/workspaces/list-workspaces.ts';
import { count } from '../core/text/count.ts';
import { countsOf } from '../core/workspace/change.ts';
import { PATCH_TOO_LARGE, tooLargeLines } from '../views/diff.ts';
import { changeText, workspaceLines } from '../views/workspaces.ts';
import * as inputs from './inputs.ts';
import { defineTool, type Tool } from './tool.ts';

const workspacesTool = defineTool({
  name: 'workspaces',
  description:
    'The workspaces of a shift: for each row its folder, branch, base, state (preparing, working, kept, delivered, held, gone), what it changed, and its size on disk. Only a person removes them, with `nightshift workspaces SHIFT prune` on the command line.',
  input: z.strictObject({ shift: inputs.shift.optional() }),
  changes: false,
  async answer(host, { shift }) {
    const list = await listWorkspaces(host, findShift(host, shift));
    const workspaces = list.workspaces.map(({ row, state, change, bytes }) => ({ row, state, change, bytes }));
    return {
      facts: { shift: list.shift, workspaces },
      lines: [`${list.shift}: ${count(workspaces.length, 'workspace')}`],
      data: [...list.warnings, ...workspaceLines(list)],
    };
  },
});

const diffTool = defineTool({
  name: 'diff',
  description:
    'What one row changed, as a patch against its base. A long patch is cut; `stat` lists the files instead.',
  input: z.strictObject({
    shift: inputs.shift,
    row: inputs.row,
    stat: z.boolean().optional().describe('files and numbers of lines instead of the patch'),
  }),
  changes: false,
  async answer(host, { shift, row, stat }) {
    const args = stat ? ['--stat'] : [];
    const { change, text = PATCH_TOO_LARGE } = await diffRow(host, findShift(host, shift), String(row), { args });
    const counts = countsOf(change);
    return {
      facts: { shift, row, ...counts },
      lines: [`${shift}, row ${row}: ${changeText(counts)}`],
      data: [...tooLargeLines(change), ...text.trimEnd().split('\n')],
    };
  },
});

/** Tools that read the workspaces of rows. */
export const WORKSPACE_TOOLS: readonly Tool[] = [workspacesTool, diffTool];
