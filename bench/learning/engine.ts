import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LessonMode } from '../../src/core/learning/policy.ts';
import { createShift, type NightshiftEvent } from '../../src/index.ts';
import { NIGHTSHIFT, node } from '../measure.ts';
import { AgentHost } from './host.ts';
import type { LessonEvent, Night } from './night.ts';
import { AUTHOR_STEPS } from './sentences.ts';
import { ROWS, type World } from './world.ts';

const SHIFT = 'night';
const TASK = 'card';
/** All done, or some items failed. */
const COMPLETE = [0, 3];
const NO_LIMITS = ['--max-failures', 'none', '--max-same-failures', 'none'];

/** A night of the whole program in a folder, with a `command` agent. */
export async function runEngine(world: World, mode: LessonMode): Promise<Night> {
  using host = new AgentHost(world);
  const root = mkdtempSync(join(tmpdir(), 'nightshift-bench-'));
  const nightshift = async (...args: string[]) =>
    (await node([NIGHTSHIFT, ...args], { cwd: root, codes: COMPLETE })).stdout;
  try {
    const items = Array.from({ length: ROWS }, (_, row) => ({ name: `record-${row + 1}` }));
    const shift = await createShift(root, SHIFT, { items, agent: 'command', parallel: true });
    await shift.addTask(TASK, { text: taskText(host.command) });
    setSettings(join(shift.folder, 'manager.md'), { lessons: mode, 'max-batch-size': '8' });
    const events = await nightshift('start', SHIFT, '--json', ...NO_LIMITS);
    const steps = readFileSync(join(shift.folder, `${TASK}.md`), 'utf8').match(/^\d+\. .*$/gm) ?? [];
    return { ...readEvents(events), steps, status: await nightshift('status', SHIFT) };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function readEvents(printed: string): Pick<Night, 'rows' | 'changes'> {
  const attempts = Array.from({ length: ROWS }, () => 0);
  const done = new Set<number>();
  const changes: LessonEvent[] = [];
  let ended = 0;
  for (const line of printed.trimEnd().split('\n')) {
    const event: NightshiftEvent = JSON.parse(line);
    if (event.type === 'attempt:finished') attempts[event.index!]!++;
    if (event.type === 'item:recorded' && (event.to === 'done' || event.to === 'failed')) ended++;
    if (event.type === 'item:recorded' && event.to === 'done') done.add(event.index!);
    if (event.type === 'lesson:changed') changes.push({ id: event.id, text: event.text, to: event.to, rows: ended });
  }
  return { rows: attempts.map((count, index) => ({ done: done.has(index), attempts: count })), changes };
}

function taskText(command: string): string {
  const steps = AUTHOR_STEPS.map((step, index) => `${index + 1}. ${step}`).join('\n');
  const settings = `- agent: command\n- command: ${command}`;
  return `## Configuration\n\n${settings}\n\n## Steps\n\n${steps}\n\n## Validation\n\n- The card is right.\n`;
}

/** In place of what `create` wrote. */
function setSettings(file: string, settings: Readonly<Record<string, string>>): void {
  const kept = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !Object.keys(settings).some((key) => line.startsWith(`- ${key}:`)));
  const lines = Object.entries(settings).map(([key, value]) => `- ${key}: ${value}`);
  writeFileSync(file, kept.flatMap((line) => (line === '## Task Order' ? [...lines, '', line] : [line])).join('\n'));
}
