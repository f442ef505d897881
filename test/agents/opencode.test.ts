import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { processesOf, until } from '../harness.ts';
import { agentContract } from './contract.ts';
import { Model, type Step, SUCCESS } from './model.ts';
import { opencode } from './opencode.ts';
import { caseFor, commandOf } from './under-test.ts';

agentContract(opencode);

describe('opencode', () => {
  let model: Model;
  beforeAll(async () => {
    model = await Model.start();
  });
  afterAll(() => model.stop());

  const CHECKED = '- {name}.txt is there\n\n  ```sh\n  test -f {name}.txt\n  ```';
  const writes = (name: string): Step => opencode.tools.write(`${name}.txt`, 'x');
  const servers = (folder: string) => processesOf(folder).filter((pid) => commandOf(pid).startsWith('opencode serve'));
  const ofMcp = (folder: string) => processesOf(folder).filter((pid) => commandOf(pid).includes('mcp-server.mjs'));

  test('M6 a session that was compacted says so, and its cost is unknown where the model has no price', async () => {
    const one = caseFor(opencode, model);
    const name = one.unique('a');
    const dev: Step[] = [{ ...writes(name), usage: { input: 59_000, output: 10 } }, { report: SUCCESS }];
    const shift = one.shift([{ name, dev }], { validation: CHECKED, configuration: '- model: loopback/forgetful' });
    const { code, events } = await one.start(shift);
    expect(code).toBe(0);
    const finished = events.find(({ type }) => type === 'dev:finished');
    expect(finished).toMatchObject({ compacted: true, attempts: 1 });
    expect(finished.usage.costUsd).toBeUndefined();
    expect(finished.usage.inputTokens).toBeGreaterThan(60_000);
  });

  test.each([
    ['model', '- model: loopback/nothing', /no model loopback\/nothing.*opencode models loopback/],
    ['provider', '- model: nobody/nothing', /no provider nobody.*opencode auth login/],
  ])(
    'X5 a %s that it does not have ends the run with what to do and uses up no attempt; doctor says the same',
    async (_, configuration, says) => {
      const one = caseFor(opencode, model);
      const name = one.unique('a');
      const shift = one.shift([{ name }], { validation: CHECKED, configuration });
      const before = shift.tableText;
      const { code, events, stderr } = await one.start(shift);
      expect([4, 6]).toContain(code);
      expect(`${stderr}${JSON.stringify(events)}`).toMatch(says);
      expect([shift.tableText, model.of(name)]).toEqual([before, []]);
      expect(servers(one.project.path(shift.folder))).toEqual([]);
      const doctor = await one.project.run(['doctor'], { env: one.environment });
      expect(doctor.stdout).toMatch(says);
    },
  );

  test('X5 a server that dies is started again, and what was in flight goes back without an attempt used up', async () => {
    const one = caseFor(opencode, model);
    const name = one.unique('a');
    const line = 'test -e asleep || { touch asleep; sleep 300; }';
    const dev = [opencode.tools.bash(line), writes(name), { report: SUCCESS }];
    const shift = one.shift([{ name, dev }], { validation: CHECKED, configuration: '- tools: bash' });
    const running = one.spawn(shift);
    await until(() => one.project.exists('asleep'), 'the tool call', 120_000);
    const [server] = servers(one.project.path(shift.folder));
    process.kill(server!, 'SIGKILL');
    const { reason } = await running.seen('item:returned');
    expect(reason).toContain('its server is gone');
    expect((await running.ended).code).toBe(0);
    expect(shift.column('work')).toEqual(['done']);
    expect(running.events.filter(({ type }) => type === 'attempt:finished')).toMatchObject([{ attempt: 1 }]);
    expect(processesOf(one.project.path(shift.folder))).toEqual([]);
  });

  test('S5 its server listens on loopback only, and asks for a password', async () => {
    const one = caseFor(opencode, model);
    const name = one.unique('a');
    const shift = one.shift([{ name, dev: [{ hang: true }] }], { validation: CHECKED });
    const running = one.spawn(shift);
    await until(() => model.of(name).length > 0, 'the first question', 120_000);
    const [server] = servers(one.project.path(shift.folder));
    const [address, ...more] = listenersOf(server!);
    expect(more).toEqual([]);
    expect(address).toMatch(/^127\.0\.0\.1:/);
    expect((await fetch(`http://${address}/session`)).status).toBe(401);
    running.kill('SIGINT');
    await running.seen('run:draining');
    running.kill('SIGINT');
    await running.ended;
  });

  test('D2 the MCP processes of an item with a folder of its own end with it', async () => {
    const one = caseFor(opencode, model, { servers: ['alpha', 'gamma'] });
    const names = ['a', 'b'].map(one.unique);
    for (const name of names) one.project.write(`${name}/.keep`, '');
    const mark: Step = { tool: 'alpha_mark', input: { text: 'here' } };
    const scripts = names.map((name, i) => ({
      name,
      dev: [mark, i === 0 ? { report: SUCCESS } : { hang: true as const }],
    }));
    const shift = one.shift(scripts, {
      validation: '- it is marked\n\n  ```sh\n  true\n  ```',
      configuration: '- tools: alpha\n- working-dir: {name}',
    });
    const running = one.spawn(shift);
    await until(() => model.of(names[1]!).length === 2, 'the second item', 120_000);
    expect(ofMcp(one.project.path(shift.folder)).length).toBe(1);
    running.kill('SIGINT');
    await running.seen('run:draining');
    running.kill('SIGINT');
    await running.ended;
    expect(processesOf(one.project.path(shift.folder))).toEqual([]);
    expect(shift.column('work')).toEqual(['done', 'todo']);
  });

  /** A plugin of the user's, which can change whatever it likes before the model is asked. */
  const meddling = (body: string) =>
    `export const Meddling = async ({ client }) => ({ 'chat.message': async ({ sessionID }, { message }) => { ${body} } });\n`;

  test.each([
    {
      body: "message.agent = 'build';",
      reason: 'the agent build answered instead of nightshift-engine-dev: nothing it did counts',
    },
    {
      body: `await client.session.update({ path: { id: sessionID },
        body: { permission: [{ permission: 'edit', pattern: '*', action: 'ask' }] } });`,
      reason: 'it asked for permission, which nobody can give: edit',
    },
  ])('X1 an attempt fails with the reason: $reason', async ({ body, reason }) => {
    const one = caseFor(opencode, model);
    const name = one.unique('a');
    one.project.write('meddling.js', meddling(body));
    one.project.write('opencode.json', JSON.stringify({ plugin: [`file://${one.project.path('meddling.js')}`] }));
    const shift = one.shift([{ name, dev: [writes(name), { report: SUCCESS }] }], { validation: CHECKED });
    const { code, events } = await one.start(shift);
    expect([code, shift.column('work')]).toEqual([3, ['failed']]);
    const finished = events.find(({ type }) => type === 'attempt:finished');
    expect(finished.reason).toContain(reason);
  });
});

/** The addresses that a process listens on, IPv4 and IPv6. */
function listenersOf(pid: number): string[] {
  const sockets = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  const lines = ['tcp', 'tcp6'].flatMap((file) =>
    readFileSync(`/proc/${pid}/net/${file}`, 'utf8').split('\n').slice(1),
  );
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && sockets.includes(`socket:[${inode}]`))
    .map(([, local]) => {
      const [host, port] = local!.split(':');
      const bytes = host!.length === 8 ? host!.match(/../g)!.reverse() : [];
      const name = bytes.length === 4 ? bytes.map((byte) => Number.parseInt(byte, 16)).join('.') : host;
      return `${name}:${Number.parseInt(port!, 16)}`;
    });
}
