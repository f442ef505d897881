import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NightshiftSession } from './opencode-session.ts';

const VALUE = 'k3y-of-the-test';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'nightshift-session-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const prompts = join(folder, '.nightshift/site/.engine/prompts');
  mkdirSync(prompts, { recursive: true });
  writeFileSync(join(prompts, 'environment.json'), JSON.stringify({ API_KEY: VALUE, SHORT: 'no' }));
  return folder;
}

/** A conversation with this agent, which was told this. */
async function conversation(agent: string, text = 'Go on.', parts: { type: string }[] = []) {
  const user = { info: { role: 'user', agent }, parts: [{ type: 'text', text }, ...parts] };
  const messages = async () => ({ data: [user, { info: { role: 'assistant' }, parts: [] }] });
  const status = async () => ({ data: { s: { type: 'busy' }, t: { type: 'retry' }, u: { type: 'idle' } } });
  const hooks = await NightshiftSession({ directory: newFolder(), client: { session: { messages, status } } });
  const env: Record<string, string> = {};
  await hooks['shell.env']({ sessionID: 's' }, { env });
  const run = (command: string) =>
    hooks['tool.execute.before']({ tool: 'bash', sessionID: 's' }, { args: { command } }).then(
      () => 'runs',
      (error: Error) => error.message,
    );
  const after = async (tool: string, output: string) => {
    const result = { output };
    await hooks['tool.execute.after']({ tool, sessionID: 's' }, result);
    return result.output;
  };
  return { env, run, after };
}

const PROMPT = 'Read .nightshift/site/.engine/prompts/row-1-dev.md and do what it says.';

test('O3 D1 the command learns who calls it; a dev of a batch has the variables of its shift, and nobody else', async () => {
  const caller = { NIGHTSHIFT_SESSION: 's', NIGHTSHIFT_BUSY: 's t' };
  expect((await conversation('nightshift-manager', PROMPT)).env).toEqual(caller);
  expect((await conversation('build', PROMPT)).env).toEqual(caller);
  expect((await conversation('nightshift-qa', PROMPT)).env).toEqual({ NIGHTSHIFT_ROLE: 'qa' });
  expect((await conversation('nightshift-dev')).env).toEqual({ NIGHTSHIFT_ROLE: 'dev' });
  expect((await conversation('nightshift-dev', PROMPT.replace('site', 'other'))).env).toEqual({
    NIGHTSHIFT_ROLE: 'dev',
  });
  const dev = { NIGHTSHIFT_ROLE: 'dev', API_KEY: VALUE, SHORT: 'no' };
  expect((await conversation('nightshift-dev', PROMPT)).env).toEqual(dev);
});

test('O5 M6 a manager whose context was compacted opens no batch; it may still close one', async () => {
  const compaction = [{ type: 'compaction' }];
  const { run } = await conversation('nightshift-manager', PROMPT, compaction);
  expect(await run('nightshift batch open site')).toContain('`Compacted: true`');
  expect(await run('nightshift batch close site')).toBe('runs');
  expect(await (await conversation('nightshift-manager')).run('nightshift batch open site')).toBe('runs');
  expect(await (await conversation('build', '', compaction)).run('nightshift batch open site')).toBe('runs');
});

test('O3 a manager is told one line by each agent, and no secret by anybody', async () => {
  const task = (text: string) => `<task id="x" state="completed">\n<task_result>\n${text}\n</task_result>\n</task>`;
  const { after } = await conversation('nightshift-manager');
  expect(await after('task', task(`Much.\n\nMore.\nI used ${VALUE}, no doubt.\n`))).toBe(
    task('I used [API_KEY], no doubt.'),
  );
  expect(await after('task', task('x'.repeat(1000)))).toBe(task(`${'x'.repeat(300)}...`));
  expect(await after('grep', `found ${VALUE}\nand more`)).toBe('found [API_KEY]\nand more');
  expect(await (await conversation('build')).after('task', task('a\nb'))).toBe(task('a\nb'));
});
