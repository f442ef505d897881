import { join, relative } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import type { Task } from '../../core/model/shift.ts';
import { type OpenItem, updateItem } from '../../store/folder/batch-file.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { BatchItemEnd } from './ends.ts';
import { promptName } from './prompts.ts';

/**
 * A batch can be closed when all its items have ended. Until then, the error says which agents to start next: one qa at
 * a time (rule P6), and each only once.
 */
export async function refuseUnended(paths: ShiftPaths, task: Task, ends: readonly BatchItemEnd[]): Promise<void> {
  const open = ends.filter(({ end }) => end === 'open');
  if (open.length === 0) return;
  const judged = open.filter(({ status, isForged }) => status === 'qa' && !isForged);
  const named = judged.filter(({ item }) => item.isQaNamed);
  const fresh = judged.filter(({ item }) => !item.isQaNamed);
  const next = task.settings.qaParallel ? fresh : named.length > 0 ? [] : fresh.slice(0, 1);
  for (const { item } of next) await updateItem(paths, item.id, { isQaNamed: true });
  const list = open.map((each) => describe(paths, each)).join('; ');
  throw new NightshiftError(
    'nothing-to-do',
    `not closed, the batch of ${task.name} is not over: ${list}`,
    next.length > 0 ? startHint(paths, next) : waitHint(paths),
  );
}

function describe(paths: ShiftPaths, { item, status, isForged }: BatchItemEnd): string {
  if (isForged) return `row ${item.index + 1} is ${status}, but was not written with its token`;
  if (status !== 'qa') return `row ${item.index + 1} is ${status} (dev, ${promptFile(paths, item, 'dev')})`;
  return `row ${item.index + 1} is qa (${item.isQaNamed ? `qa, ${promptFile(paths, item, 'qa')}` : 'its qa comes later'})`;
}

function startHint(paths: ShiftPaths, next: readonly BatchItemEnd[]): string {
  const lines = next.map(({ item }) => `row ${item.index + 1}: qa, ${promptFile(paths, item, 'qa')}`);
  const which = next.length === 1 ? 'Start this agent' : 'Start these agents';
  return `${which}, then run \`nightshift batch close ${paths.name}\` again:\n${lines.join('\n')}`;
}

function waitHint({ name }: ShiftPaths): string {
  return `wait for agents that are still working. If one has ended without a status, run \`nightshift batch close ${name} --give-back\``;
}

function promptFile(paths: ShiftPaths, item: OpenItem, role: 'dev' | 'qa'): string {
  return relative(paths.root, join(paths.prompts, promptName(item, role)));
}
