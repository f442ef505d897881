import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { close, commandIn, fail, type Opened, open, write } from '../hand.ts';
import { agentTask, Project, type ShiftHandle } from '../harness.ts';

const SECRET = 'k3y-of-the-test';
const OTHER = 'n0t-named-by-the-task';

function newShift(configuration = '', count = 3): ShiftHandle {
  return new Project().shift('site', {
    settings: { parallel: true, 'current-batch-size': count },
    table: `name,draft\n${['a', 'b', 'c', 'd']
      .slice(0, count)
      .map((name) => `${name},todo\n`)
      .join('')}`,
    tasks: { draft: agentTask('1. Draft {name}', '- {name} is good', configuration) },
  });
}

function withSecrets(shift: ShiftHandle): ShiftHandle {
  const { project, folder } = shift;
  const text = shift.task('draft').replace('1. Draft {name}', '$& with {ENV:API_KEY}');
  project.write(`${folder}/draft.md`, text.replace('is good', 'knows {ENV:API_KEY}'));
  project.write(`${folder}/.env`, `API_KEY=${SECRET}\nOTHER=${OTHER}\n`);
  return shift;
}

type Item = Opened['items'][number];

/** Programs that stand for OpenCode: all that counts is whether they live. */
const programs: ChildProcess[] = [];
afterAll(() => {
  for (const program of programs) program.kill('SIGKILL');
});

function newProgram(): ChildProcess & { pid: number } {
  const program = spawn('sleep', ['600']);
  programs.push(program);
  return program as ChildProcess & { pid: number };
}

/** As the plugin in OpenCode calls it. */
function caller(shift: ShiftHandle, pid: number, session: string, busy: readonly string[] = [session]) {
  const env = { OPENCODE_PID: String(pid), NIGHTSHIFT_SESSION: session, NIGHTSHIFT_BUSY: busy.join(' ') };
  return (...words: string[]) => shift.project.run(['batch', words[0]!, 'site', ...words.slice(1)], { env });
}

test('O3 O4 D1 V1 prompts of a batch hold the values that the task names, for their owner only, until the close', async () => {
  const shift = withSecrets(newShift('- tools: bash'));
  const { items } = await open(shift);
  const prompt = shift.project.read(items[0]!.prompt);
  expect(prompt).toContain(`1. Draft a with ${SECRET}`);
  expect(prompt).toContain(`"variables_to_set_in_a_shell": {\n    "API_KEY": "${SECRET}"\n  }`);
  expect(prompt).toContain('"environment": []');
  expect(prompt).not.toMatch(/\$API_KEY|Secrets are in the environment/);
  expect(prompt).not.toContain(OTHER);
  const folder = shift.project.path(shift.folder, '.engine/prompts');
  expect(readdirSync(folder)).toEqual(['environment.json', 'row-1-dev.md', 'row-2-dev.md', 'row-3-dev.md']);
  for (const name of readdirSync(folder)) expect(statSync(`${folder}/${name}`).mode & 0o777).toBe(0o600);

  const wish = await write(shift, items[0]!.prompt, 'qa', '--recommend', `Do not write ${SECRET}`);
  expect(wish).toMatchObject({ code: 0 });
  expect(shift.project.read(items[0]!.qaPrompt!)).toContain(`a knows ${SECRET}`);
  const verdict = await write(shift, items[0]!.qaPrompt!, 'failed', '--reason', `it is ${SECRET}`);
  expect(verdict.stdout).toBe('draft of row 1 (index 0): failed (it is [API_KEY])\n');
  expect(JSON.stringify(shift.journal())).not.toContain(SECRET);
  await close(shift, '--give-back');
  expect(readdirSync(folder)).toEqual([]);

  // Where a program puts them into the shells of devs, they stand by name.
  await caller(shift, newProgram().pid, 'one')('open');
  const named = shift.project.read(`${shift.folder}/.engine/prompts/row-2-dev.md`);
  expect(named).toContain('"environment": [\n    "API_KEY",\n    "OTHER"\n  ]');
  expect(named).toContain('Secrets are in the environment of your shell');
  expect(named).not.toContain('variables_to_set_in_a_shell');
});

test('P6 T5 P8 qa runs one at a time: the close names the next, and what waits at an open is judged one by one', async () => {
  const shift = newShift();
  const { items } = await open(shift);
  for (const { prompt } of items) await write(shift, prompt, 'qa');
  const next = async () => [...(await close(shift)).stderr.matchAll(/^row (\d): qa, (\S+)$/gm)].map(([, i]) => i);
  expect(await next()).toEqual(['1']);
  // Named once: who asks again without having started it is not sent to start it twice.
  expect(await next()).toEqual([]);
  await write(shift, items[0]!.qaPrompt!, 'done');
  expect(await next()).toEqual(['2']);
  await close(shift, '--give-back');
  expect(shift.column('draft')).toEqual(['done', 'qa', 'qa']);

  for (const index of [1, 2]) {
    const opened = await open(shift);
    expect(opened.items).toMatchObject([{ index, role: 'qa' }]);
    expect(opened.notes).toEqual(
      index === 1 ? ['1 more item at qa, which the next batches judge one by one'] : undefined,
    );
    await write(shift, opened.items[0]!.prompt, 'done');
    expect((await close(shift)).code).toBe(0);
  }
  expect(shift.column('draft')).toEqual(['done', 'done', 'done']);
  // What was only judged is no batch (rule P2); the one that was given back did not double.
  expect(shift.manager).toContain('- current-batch-size: 3');
});

test('Q4 X5 an item whose agents never write a status is given back twice, then failed', async () => {
  const shift = newShift('', 1);
  const silent = async () => {
    await open(shift);
    return (await close(shift, '--give-back')).stderr;
  };
  expect(await silent()).toBe('row 1: given back: its dev ended without a status (1 of 3)\n');
  // A killed manager is no fault of an agent: what it left is not counted, and counts nothing away.
  await open(shift);
  await open(shift, '--take-over');
  expect((await close(shift, '--give-back')).stderr).toContain('(2 of 3)');
  expect(await silent()).toBe('row 1: failed: its dev ended without a status 3 times\n');
  expect(shift.column('draft')).toEqual(['failed']);
  expect((await shift.project.run(['status', 'site'])).stdout).toContain('its dev ended without a status 3 times');

  await shift.project.run(['table', 'site', 'reset']);
  expect(await silent()).toContain('its dev ended without a status (1 of 3)');
  // A dev that does write one begins the count anew for its qa.
  const [item] = (await open(shift)).items as [Item];
  await write(shift, item.prompt, 'qa');
  await close(shift);
  expect((await close(shift, '--give-back')).stderr).toContain('its qa ended without a status (1 of 3)');
  expect(await silent()).toContain('(2 of 3)');
  expect(await silent()).toContain('row 1: failed: its qa ended without a status 3 times');
  expect(shift.column('draft')).toEqual(['failed']);
});

test('D3 a dev that fails by its own word has three attempts too', async () => {
  const shift = newShift('', 2);
  const { items } = await open(shift);
  await fail(shift, items[0]!, 'it does not read well');
  await write(shift, items[1]!.prompt, 'failed', '--reason', 'not yet');
  expect((await write(shift, items[1]!.prompt, 'qa')).code).toBe(0);
  expect(shift.column('draft')).toEqual(['failed', 'qa']);
  const attempts = shift.journal().filter(({ type }) => type === 'dev:finished');
  expect(attempts).toMatchObject([
    { status: 'FAILED', attempts: 3 },
    { status: 'SUCCESS', attempts: 2 },
  ]);
});

test('T6 O3 a second window steals nothing; whoever comes after a manager that is gone goes on by itself', async () => {
  const shift = newShift();
  const [program, other] = [newProgram(), newProgram()];
  const first = caller(shift, program.pid, 'one');
  expect((await first('open')).code).toBe(0);
  const token = commandIn(shift, `${shift.folder}/.engine/prompts/row-1-dev.md`, 'qa');
  const batch = shift.project.read(`${shift.folder}/.engine/batch.json`);
  const refused = async (call: typeof first, words: string[], why: string) => {
    const ended = await call(...words);
    expect([ended.code, ended.stderr]).toEqual([5, expect.stringContaining(why)]);
    expect(shift.project.read(`${shift.folder}/.engine/batch.json`)).toBe(batch);
  };
  // Another OpenCode, and another conversation in the same one, while the first is at work.
  for (const second of [caller(shift, other.pid, 'two'), caller(shift, program.pid, 'two', ['one', 'two'])]) {
    await refused(second, ['open'], 'another conversation works on it');
    await refused(second, ['open', '--take-over'], 'another conversation works on it');
    await refused(second, ['close', '--give-back'], 'another conversation works on it');
  }
  await refused(first, ['open', '--take-over'], 'it is yours: `nightshift batch close site`');
  expect((await shift.project.run(['start', 'site'])).code).toBe(5);

  // The same OpenCode, where that conversation has ended: after a compaction, or Escape.
  const fresh = await caller(shift, program.pid, 'two')('open');
  expect([fresh.code, fresh.stdout]).toEqual([0, expect.stringContaining('3 items of an interrupted batch')]);
  expect((await shift.project.run(token)).stderr).toContain('the token is not the current one');
  // Its process is gone.
  const gone = once(program, 'exit');
  program.kill('SIGKILL');
  await gone;
  expect((await caller(shift, other.pid, 'three')('open')).code).toBe(0);
  // A person may always.
  expect((await shift.project.run(['batch', 'open', 'site'])).code).toBe(5);
  expect(await open(shift, '--take-over')).toMatchObject({ recovered: 3 });
  // And no agent takes over from a person.
  const late = await caller(shift, other.pid, 'three')('open', '--take-over');
  expect([late.code, late.stderr]).toEqual([5, expect.stringContaining('another conversation works on it')]);
});
