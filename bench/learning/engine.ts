import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LessonMode } from '../../src/core/learning/policy.ts';
import { createShift } from '../../src/index.ts';
import { worldAgent } from './agent.ts';
import type { LessonEvent, Night } from './night.ts';
import { AUTHOR_STEPS } from './sentences.ts';
import { ROWS, type World } from './world.ts';

const TASK = 'card';

/** A night of the real engine, in a folder, with an agent in this process. */
export async function runEngine(world: World, mode: LessonMode): Promise<Night> {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-bench-'));
  try {
    const items = Array.from({ length: ROWS }, (_, row) => ({ name: `record-${row + 1}` }));
    const shift = await createShift(root, 'night', { items, agent: 'world', parallel: true });
    await shift.addTask(TASK, { text: taskText() });
    setSettings(join(shift.folder, 'manager.md'), { lessons: mode, 'max-batch-size': '8' });
    const run = shift.run({ agents: [worldAgent(world)], limits: { maxFailures: 'none', maxSameFailures: 'none' } });
    const attempts = new Map<number, number>();
    const changes: LessonEvent[] = [];
    let ended = 0;
    for await (const event of run) {
      if (event.type === 'attempt:finished') attempts.set(event.index!, (attempts.get(event.index!) ?? 0) + 1);
      if (event.type === 'item:recorded' && (event.to === 'done' || event.to === 'failed')) ended++;
      if (event.type === 'lesson:changed') changes.push({ id: event.id, text: event.text, to: event.to, rows: ended });
    }
    await run.result;
    const rows = (await shift.items()).map(({ statuses }, index) => ({
      done: statuses[TASK] === 'done',
      attempts: attempts.get(index)!,
    }));
    const steps = readFileSync(join(shift.folder, `${TASK}.md`), 'utf8').match(/^\d+\. .*$/gm) ?? [];
    return { rows, changes, steps };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function taskText(): string {
  const steps = AUTHOR_STEPS.map((step, index) => `${index + 1}. ${step}`).join('\n');
  return `## Configuration\n\n## Steps\n\n${steps}\n\n## Validation\n\n- The card is right.\n`;
}

/** In place of what `create` wrote. */
function setSettings(file: string, settings: Readonly<Record<string, string>>): void {
  const kept = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !Object.keys(settings).some((key) => line.startsWith(`- ${key}:`)));
  const lines = Object.entries(settings).map(([key, value]) => `- ${key}: ${value}`);
  writeFileSync(file, kept.flatMap((line) => (line === '## Task Order' ? [...lines, '', line] : [line])).join('\n'));
}
