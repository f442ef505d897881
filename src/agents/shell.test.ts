import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../test/harness.ts';
import type { TranscriptEntry } from '../core/model/events.ts';
import type { Role } from '../core/model/model.ts';
import { NO_MASK } from '../core/text/mask.ts';
import type { Answer, ResolvedStep } from './agent.ts';
import { AgentSet } from './registry.ts';

let folder: string;
let transcript: TranscriptEntry[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightshift-shell-'));
  transcript = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const step = (number: number, ...sources: string[]): ResolvedStep => ({
  number,
  scripts: sources.map((source) => ({ source, values: { VALUE_1: `it's "$HOME" ${number}` } })),
});

async function run(steps: ResolvedStep[], role: Role = 'dev', signal = new AbortController().signal): Promise<Answer> {
  const opening = {
    role,
    settings: { tools: [] },
    folder,
    scratch: folder,
    shiftFolder: folder,
    mask: NO_MASK,
    transcript: (e: TranscriptEntry) => transcript.push(e),
    signal,
  };
  await using session = await new AgentSet().find('shell')!.open(opening);
  return await session.ask({
    prompt: 'unused',
    schema: {},
    steps,
    environment: { PATH: process.env.PATH!, GREETING: 'hello' },
  });
}

test('X3 runs the blocks in order in the folder, with the environment and the values, and reports SUCCESS', async () => {
  const answer = await run([step(1, 'echo "$GREETING" > out', 'cat'), step(2, 'echo "$VALUE_1" >> out; cat out')]);
  expect(readFileSync(join(folder, 'out'), 'utf8')).toBe('hello\nit\'s "$HOME" 2\n');
  expect(answer).toEqual({
    kind: 'report',
    report: {
      overall_status: 'SUCCESS',
      steps: [
        { step: 1, status: 'SUCCESS', output: '' },
        { step: 2, status: 'SUCCESS', output: 'hello\nit\'s "$HOME" 2' },
      ],
      captured_values: {},
      self_validation: [],
      recommendations: 'None',
    },
  });
});

test('X3 a failing line ends the attempt as FAILED (step N), with the tail of its output', async () => {
  const answer = await run([
    step(1, 'true'),
    step(2, 'echo first; sleep 0.2; ls nowhere-here; echo not reached > reached'),
    step(3, 'echo later > later'),
  ]);
  const { report } = answer as { report: { overall_status: string; steps: unknown[]; error: string } };
  expect(report.overall_status).toBe('FAILED (step 2)');
  expect(report.steps).toHaveLength(2);
  expect(report.error).toMatch(/^exit code 2: /);
  expect(report.error).toContain('first\n');
  expect(report.error).toMatch(/nowhere-here.*No such file/);
  expect(() => readFileSync(join(folder, 'reached'))).toThrow();
  expect(() => readFileSync(join(folder, 'later'))).toThrow();
  expect([...new Set(transcript.map(({ kind }) => kind))]).toEqual(['note', 'output', 'error']);
});

test('X3 X5 exit 75 of a step asks to try later; a signal and silence are said; abort is no failure', async () => {
  expect(await run([step(1, 'exit 75')])).toEqual({
    kind: 'trouble',
    trouble: { reason: 'step 1: exit code 75, and it printed nothing', isRequested: true },
  });
  expect(await run([step(4, 'kill -9 $$')])).toMatchObject({
    report: { overall_status: 'FAILED (step 4)', error: 'ended by SIGKILL, and it printed nothing' },
  });
  const stop = new AbortController();
  const running = run([step(1, 'touch up; sleep 300')], 'dev', stop.signal);
  await until(() => existsSync(join(folder, 'up')), 'the step');
  stop.abort();
  expect(await running).toEqual({ kind: 'aborted' });
});

test('X3 judges nothing', async () => {
  expect(await run([step(1, 'true')], 'qa')).toMatchObject({ kind: 'failed' });
});
