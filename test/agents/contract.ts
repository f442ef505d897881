import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { processesOf, type ShiftHandle, task, until } from '../harness.ts';
import { sandboxTest } from '../kit/sandbox-test.ts';
import { Model, type Script, type Step, SUCCESS, verdict } from './model.ts';
import {
  type AgentUnderTest,
  type Case,
  type CaseOptions,
  caseFor,
  commandOf,
  groupOf,
  marksOf,
} from './under-test.ts';

/** Judged by a check, and not by the qa. */
export const CHECKED = `- {name}.txt is there\n\n  \`\`\`sh\n  test -f {name}.txt\n  \`\`\``;

/** What holds for every agent program, shown with the real one. */
export function agentContract(agent: AgentUnderTest): void {
  let model: Model;
  beforeAll(async () => {
    model = await Model.start();
  });
  afterAll(() => model.stop());

  const { tools } = agent;
  const setUp = (options?: CaseOptions) => caseFor(agent, model, options);
  const passes = (name: string): Step => verdict([`${name}.txt is there`]);
  const writes = (name: string): Step => tools.write(`${name}.txt`, `about ${name}\n`);

  describe(`the contract of agents: ${agent.name}`, () => {
    sandboxTest('W12 in the sandbox it works, is judged and remembers, and reaches nothing else', async () => {
      const one = setUp();
      const name = one.unique('a');
      one.home.write('.ssh/id', 'a private key');
      // In a file: some programs refuse such a command by themselves.
      const tries = `echo x >> "$HOME/.profile"; echo "saw: $(cat "$HOME/.ssh/id")" > ${name}.saw`;
      one.project.write('try.sh', tries);
      const shift = one.shift(
        [
          {
            name,
            dev: [tools.bash('sh try.sh'), writes(name), { report: SUCCESS }],
            qa: [tools.read(`${name}.txt`), passes(name)],
          },
        ],
        { settings: { sandbox: true }, configuration: '- tools: bash' },
      );
      const { code, events } = await one.start(shift);
      expect(shift.column('work'), reasons(events)).toEqual(['done']);
      expect(code).toBe(0);
      expect([one.project.read(`${name}.txt`), one.project.read(`${name}.saw`)]).toEqual([
        `about ${name}\n`,
        'saw: \n',
      ]);
      expect(one.home.exists('.profile')).toBe(false);
      expect(processesOf(one.project.path(shift.folder))).toEqual([]);
    });

    test('M3 D1 Q1 L2 a shift of six items in parallel: written, judged, learned from', async () => {
      const one = setUp();
      const wish = `Look at the spelling of ${one.unique('it')} twice.`;
      const other = 'Keep a blank line at the end.';
      const names = ['a', 'b', 'c', 'd', 'e', 'f'].map(one.unique);
      const shift = one.shift(
        names.map((name, i) => ({
          name,
          // The first batch has two items.
          dev: [writes(name), { report: { ...SUCCESS, recommendations: [[wish, other], [wish]][i] ?? [] } }],
          qa: [tools.read(`${name}.txt`), passes(name)],
        })),
        { settings: { parallel: true } },
      );
      const { code, events } = await one.start(shift);
      expect(shift.column('work'), reasons(events)).toEqual(Array(6).fill('done'));
      expect(code).toBe(0);
      for (const name of names) expect(one.project.read(`${name}.txt`)).toBe(`about ${name}\n`);

      for (const name of names) {
        const others = names.filter((each) => each !== name).map((each) => `${each}.txt`);
        for (const role of ['dev', 'qa'] as const) {
          const asked = model.of(name, role);
          expect(asked.map(({ step }) => step)).toEqual([0, 1]);
          expect(others.filter((other) => asked.at(-1)!.text.includes(other))).toEqual([]);
        }
        // Nothing that its dev says, only what that was told beyond its task.
        const judged = model.of(name, 'qa').at(-1)!.text;
        expect(judged.replace(/<lessons-(\w+)>[\s\S]*?<\/lessons-\1>/g, '')).not.toContain(wish);
      }
      // What they recommend reaches the next ones through the manager.
      const asked = model.asked.filter(({ role, text }) => role === 'manager' && text.includes(wish));
      // Who has tools in every session asks without any only for a title.
      const manager = asked.filter(({ tools: offered }) => agent.hidesTools || offered.length > 0);
      // Programs that start at once may trip over each other: one of the first two is done later then, and says it later.
      expect([1, 2]).toContain(manager.length);
      const harmless = ['StructuredOutput', ...(agent.harmless ?? [])];
      if (agent.hidesTools || agent.harmless) {
        expect(manager.flatMap((each) => each.tools.filter((tool) => !harmless.includes(tool)))).toEqual([]);
      }
      const isTold = names.map((name) => model.of(name)[0]!.prompt.includes(wish));
      expect(isTold.slice(0, 2)).toContain(false);
      expect(isTold.slice(2)).toEqual([true, true, true, true]);
    });

    test('D3 a dev that needs three attempts makes them in one session', async () => {
      const one = setUp();
      const name = one.unique('a');
      const report = { report: SUCCESS };
      const shift = one.shift([{ name, dev: [report, report, writes(name), report] }], { validation: CHECKED });
      const { code, events } = await one.start(shift);
      expect(attempts(events), reasons(events)).toEqual(['FAILED (validation)', 'FAILED (validation)', 'SUCCESS']);
      expect(code).toBe(0);
      const asked = model.of(name);
      expect(asked.map(({ step }) => step)).toEqual([0, 1, 2, 3]);
      // Attempt three knows why the first two failed, whether it remembers or was told.
      expect(asked.at(-1)!.text).toContain(`${name}.txt is there`);
      expect(asked.at(-1)!.text).toContain('This is attempt 3');
    });

    test('D4 Q4 a bad report is asked for once more, and uses up no attempt', async () => {
      const one = setUp();
      const name = one.unique('a');
      const shift = one.shift([
        {
          name,
          dev: [writes(name), { text: 'It is all done.' }, { report: SUCCESS }],
          qa: [{ report: { overall_status: 'SPLENDID' } }, passes(name)],
        },
      ]);
      const { code, events } = await one.start(shift);
      expect(attempts(events), reasons(events)).toEqual(['SUCCESS']);
      expect(code).toBe(0);
      expect(shift.column('work')).toEqual(['done']);
      expect(model.of(name).length).toBe(3);
    });

    test('D4 a report as fenced JSON at the end of a text is read', async () => {
      const one = setUp();
      const name = one.unique('a');
      const text = `This is what I did.\n\n\`\`\`json\n${JSON.stringify(SUCCESS, null, 2)}\n\`\`\``;
      const shift = one.shift([{ name, dev: [writes(name), { text }] }], { validation: CHECKED });
      const { code, events } = await one.start(shift);
      expect(attempts(events), reasons(events)).toEqual(['SUCCESS']);
      expect(code).toBe(0);
    });

    test('D4 a session that ends well with nothing said is a failure with that reason', async () => {
      const one = setUp();
      const name = one.unique('a');
      const shift = one.shift([{ name, dev: Array(6).fill({ text: '' }) }], { validation: CHECKED });
      const { code, events } = await one.start(shift);
      expect(code).toBe(3);
      expect(shift.column('work')).toEqual(['failed']);
      expect(attempts(events)).toEqual(['FAILED', 'FAILED', 'FAILED']);
      expect(reasons(events)).toMatch(/no (usable )?report/);
    });

    test('X1 a model that hangs is ended when the time is over, and nothing is left', async () => {
      const one = setUp();
      const name = one.unique('a');
      const shift = one.shift([{ name, dev: [{ hang: true }] }], {
        configuration: '- timeout: 8s',
        validation: CHECKED,
      });
      const { code, events } = await one.start(shift);
      expect(code).toBe(3);
      expect(reasons(events)).toContain('timed out after 8s');
      expect(processesOf(one.project.path(shift.folder))).toEqual([]);
    });

    test('X5 429 and 500 for a while: it goes on afterwards, and no attempt is used up', async () => {
      const one = setUp();
      const [slow, broken] = [one.unique('slow'), one.unique('broken')];
      const recovers = (name: string, status: number): Script => ({
        name,
        dev: [{ ...writes(name), refuse: { status, times: 2 } }, { report: SUCCESS }],
      });
      const shift = one.shift([recovers(slow, 429), recovers(broken, 500)], {
        validation: CHECKED,
        settings: { parallel: true },
      });
      const { code, events } = await one.start(shift);
      expect(shift.column('work'), reasons(events)).toEqual(['done', 'done']);
      expect(attempts(events)).toEqual(['SUCCESS', 'SUCCESS']);
      expect(code).toBe(0);
      for (const name of [slow, broken]) expect(model.of(name).filter(({ refused }) => refused).length).toBe(2);
    });

    // Who asks in silence again and again is only ended by the time limit.
    test.runIf(agent.tellsTrouble ?? true)(
      'X5 429 without an end: the item is given back with the reason, and the run ends when patience does',
      async () => {
        const one = setUp();
        const name = one.unique('a');
        const dev: Step[] = [{ report: SUCCESS, refuse: { status: 429, times: 10_000 } }];
        const shift = one.shift([{ name, dev }], { validation: CHECKED, settings: { patience: '1s' } });
        const { code, events } = await one.start(shift);
        expect(code).toBe(4);
        expect(shift.column('work')).toEqual(['todo']);
        expect(returned(events)).toMatch(/429|[Rr]ate limit/);
        expect(attempts(events)).toEqual([]);
      },
    );

    test('X5 a key that is refused ends the run with what to do, and uses up no attempt', async () => {
      const one = setUp();
      const name = one.unique('a');
      const dev: Step[] = [{ report: SUCCESS, refuse: { status: 401, times: 10_000, message: 'invalid api key' } }];
      const shift = one.shift([{ name, dev }], { validation: CHECKED });
      const { code, events, stderr } = await one.start(shift);
      expect([4, 6]).toContain(code);
      expect(shift.column('work')).toEqual(['todo']);
      expect(attempts(events)).toEqual([]);
      expect(`${JSON.stringify(events)}${stderr}`).toMatch(/log ?in|API key/i);
    });

    test('X5 a program that is not there is exit code 6 before anything is claimed', async () => {
      const one = setUp();
      const shift = one.shift([{ name: one.unique('a') }]);
      const before = shift.tableText;
      const { code, stderr, events } = await shift.start([], { env: { ...one.environment, PATH: '/usr/bin:/bin' } });
      expect(code).toBe(6);
      expect(`${stderr}${JSON.stringify(events)}`).toContain(agent.program);
      expect(shift.tableText).toBe(before);
    });

    test('D2 Q2 a tool that is not named is not there: no shell, and nothing that writes for a qa', async () => {
      const one = setUp();
      const name = one.unique('a');
      const beyond = agent.hasLockedShell ? `${one.project.root}-by-bash` : one.project.path('by-bash');
      const forbidden = (file: string): Step[] => [tools.bash(`touch ${file}`), tools.write(file, 'x')];
      const shift = one.shift([
        {
          name,
          dev: [tools.bash(`touch ${beyond}`), writes(name), { report: SUCCESS }],
          qa: [...forbidden('by-qa'), passes(name)],
        },
      ]);
      const { code, events } = await one.start(shift);
      expect(shift.column('work'), reasons(events)).toEqual(['done']);
      expect(code).toBe(0);
      expect(existsSync(beyond)).toBe(false);
      expect(one.project.exists('by-qa')).toBe(false);
      const offered = (role: 'dev' | 'qa') => new Set(model.of(name, role).flatMap((asked) => asked.tools));
      if (!agent.hidesTools) return;
      expect(agent.shells.filter((tool) => offered('dev').has(tool))).toEqual([]);
      expect([...agent.shells, ...agent.writing].filter((tool) => offered('qa').has(tool))).toEqual([]);
    });

    test('D2 a shell that is named is there for the dev, with the variables of the item, and never for the qa', async () => {
      const one = setUp();
      const name = one.unique('a');
      const line = agent.hasEnvironment ? 'echo "$NIGHTSHIFT_TASK" > by-bash' : 'echo work > by-bash';
      const shift = one.shift(
        [
          {
            name,
            dev: [tools.bash(line), writes(name), { report: SUCCESS }],
            qa: [tools.bash('touch by-qa'), passes(name)],
          },
        ],
        { configuration: '- tools: bash' },
      );
      const { code, events } = await one.start(shift);
      expect(shift.column('work'), reasons(events)).toEqual(['done']);
      expect(code).toBe(0);
      expect(one.project.read('by-bash')).toBe('work\n');
      expect(one.project.exists('by-qa')).toBe(false);
      if (agent.hidesTools)
        expect(model.of(name, 'qa')[0]!.tools.filter((tool) => agent.shells.includes(tool))).toEqual([]);
    });

    test('D2 the MCP servers that are named are there, of the own configuration and of .mcp.json, and no others', async () => {
      const [servers, projectServers] = [
        ['alpha', 'gamma'],
        ['beta', 'delta'],
      ];
      const hasOwn = agent.hasOwnServers ?? true;
      const one = setUp(hasOwn ? { servers, projectServers } : { projectServers: [...servers!, ...projectServers!] });
      const name = one.unique('a');
      const mark = (server: string): Step => ({ tool: agent.mcpTool(server), input: { text: name } });
      const dev = [mark('alpha'), mark('beta'), mark('gamma'), mark('delta'), { report: SUCCESS }];
      const shift = one.shift([{ name, dev }], {
        tasks: {
          first: task({
            configuration: one.configuration('- tools: alpha'),
            steps: '1. Go',
            validation: '- done\n\n  ```sh\n  true\n  ```',
          }),
          second: task({
            configuration: one.configuration('- tools: beta'),
            steps: '1. Go',
            validation: '- done\n\n  ```sh\n  true\n  ```',
          }),
        },
      });
      const { code, events } = await one.start(shift);
      expect(code, reasons(events)).toBe(0);
      expect(marksOf(one.project)).toEqual([`alpha: ${name}`, `beta: ${name}`]);
      const offered = [
        ...new Set(model.of(name).map(({ tools: each }) => each.filter((tool) => tool.includes('mark')).join())),
      ];
      if (agent.hidesTools) expect(offered).toEqual([agent.mcpTool('alpha'), agent.mcpTool('beta')]);
      expect(processesOf(one.project.path(shift.folder))).toEqual([]);
    });

    test('D2 an MCP server that no configuration has is exit code 6 before anything is claimed', async () => {
      const one = setUp();
      const shift = one.shift([{ name: one.unique('a') }], { configuration: '- tools: nowhere' });
      const { code, stderr, events } = await one.start(shift);
      expect(code).toBe(6);
      expect(`${stderr}${JSON.stringify(events)}`).toContain('nowhere');
      expect(shift.column('work')).toEqual(['todo']);
    });

    test('M7 what a session used is in the journal, status, show and the summary', async () => {
      const one = setUp();
      const name = one.unique('a');
      const usage = { input: 40_000, output: 3000 };
      const dev: Step[] = [
        { ...writes(name), usage },
        { report: SUCCESS, usage },
      ];
      const shift = one.shift([{ name, dev, qa: [{ ...passes(name), usage }] }]);
      const { code, events } = await one.start(shift);
      expect(code, reasons(events)).toBe(0);
      const used = (type: string) => shift.journal().find((event) => event.type === type).usage;
      if (agent.tellsAllTokens ?? true)
        expect(used('dev:finished')).toMatchObject({ inputTokens: 80_000, outputTokens: 6000 });
      expect(used('qa:finished')).toMatchObject({ inputTokens: 40_000, outputTokens: 3000 });
      if (agent.costOf === undefined) expect(used('dev:finished').costUsd).toBeUndefined();
      else expect(used('dev:finished').costUsd).toBeCloseTo(agent.costOf(80_000, 6000), 6);
      const { stdout } = await one.project.run(['status', shift.name]);
      if (agent.tellsAllTokens ?? true) expect(stdout).toMatch(/120(,000|k|\.0k| 000|000)/);
      if (agent.costOf === undefined) expect(stdout).toMatch(/unknown/);
      else expect(stdout).toContain(`$${agent.costOf(120_000, 9000).toFixed(2)}`);
    });

    test('X6 a limit drains the run, is told, and is not refilled by a restart', async () => {
      const one = setUp();
      const names = ['a', 'b'].map(one.unique);
      const usage = { input: 40_000, output: 3000 };
      const shift = one.shift(
        names.map((name) => ({
          name,
          dev: [
            { ...writes(name), usage },
            { report: SUCCESS, usage },
          ],
        })),
        { validation: CHECKED },
      );
      const limit = agent.costOf === undefined ? '--max-tokens=50000' : `--max-cost=${agent.costOf(50_000, 4000)}`;
      const first = await one.start(shift, [limit]);
      expect([first.code, shift.column('work')], reasons(first.events)).toEqual([4, ['done', 'todo']]);
      const end = first.events.find(({ type }) => type === 'run:finished');
      expect(end.reason).toContain(limit.slice(2, limit.indexOf('=')));
      const again = await one.start(shift, [limit]);
      expect([again.code, shift.column('work')]).toEqual([4, ['done', 'todo']]);
      expect(model.of(names[1]!)).toEqual([]);
    });

    test('X8 the transcript tells what was said and done, in one form', async () => {
      const one = setUp({ env: 'TOKEN=tok-123456789\n' });
      const name = one.unique('a');
      const dev = [tools.write(`${name}.txt`, 'tok-123456789\n'), tools.read(`${name}.txt`), { report: SUCCESS }];
      const shift = one.shift([{ name, dev }], { validation: CHECKED });
      expect((await one.start(shift)).code).toBe(0);
      const entries = one.transcript(shift, 'dev');
      const kinds = entries.map(({ kind }) => kind);
      expect(kinds).toEqual(expect.arrayContaining(['prompt', 'tool-call', 'tool-result', 'usage']));
      expect(kinds.indexOf('prompt')).toBe(0);
      const calls = entries.filter(({ kind }) => kind === 'tool-call');
      expect(calls[0]).toMatchObject({ tool: tools.write('', '').tool, mayWrite: true });
      expect(calls[0]!.text).toContain(`${name}.txt`);
      if (agent.hidesTools) expect(calls[1]).toMatchObject({ tool: tools.read('').tool, mayWrite: false });
      expect(JSON.stringify(entries)).not.toContain('tok-123456789');
    });

    test('R6 a second Ctrl-C in the middle of a tool call ends all that it started, and the item goes back', async () => {
      const one = setUp();
      const { shift, name } = sleeper(one);
      const running = one.spawn(shift);
      await until(() => one.project.exists('asleep'), 'the tool call', 60_000);
      running.kill('SIGINT');
      await running.seen('run:draining');
      running.kill('SIGINT');
      expect((await running.ended).code).toBe(130);
      expect(processesOf(one.project.path(shift.folder))).toEqual([]);
      expect(shift.column('work')).toEqual(['todo']);
      expect(model.of(name).length).toBe(1);
    });

    test('R6 after `kill -9` of nightshift nothing of the agent is left, and the next start does the item', async () => {
      const one = setUp();
      const { shift } = sleeper(one);
      const folder = one.project.path(shift.folder);
      const running = one.spawn(shift);
      await until(() => one.project.exists('asleep'), 'the tool call', 60_000);
      const before = processesOf(folder);
      const guarded = new Set(before.filter((pid) => commandOf(pid).includes(agent.program)).map(groupOf));
      running.kill('SIGKILL');
      await running.ended;
      const left = () => processesOf(folder).filter((pid) => guarded.has(groupOf(pid)));
      await until(() => left().length === 0, 'the guard to end the agent');
      one.project.write('awake', '');
      expect((await one.start(shift)).code).toBe(0);
      expect(shift.column('work')).toEqual(['done']);
      // A shell may have left the group of its program: then its mark was found before the claim.
      expect(before.filter((pid) => commandOf(pid) !== '')).toEqual([]);
    });

    /** A dev whose shell sleeps unless there is a file `awake`, in a group of its own if it can. */
    function sleeper(one: Case): { shift: ShiftHandle; name: string } {
      const name = one.unique('a');
      const line = 'test -e awake || { touch asleep; sleep 300; }';
      const shift = one.shift([{ name, dev: [tools.bash(line), writes(name), { report: SUCCESS }] }], {
        configuration: '- tools: bash',
        validation: CHECKED,
      });
      return { shift, name };
    }

    const trespasses: Record<string, (one: Case, shift: string) => Step> = {
      'the table by its shell': (_, folder) => tools.bash(`sed -i 's/in_progress$/done/' ${folder}/table.csv`),
      'the Validation by its shell': (_, folder) => tools.bash(`sed -i 's/is there/is anything/' ${folder}/work.md`),
      'the Validation by its tools': (one, folder) =>
        tools.write(`${folder}/work.md`, one.taskText('- anything goes').replace('1. Do', '1. Do not')),
      'the table by its tools': (_, folder) => tools.write(`${folder}/table.csv`, 'name,script,work\nx,y,done\n'),
      'the journal by its tools': (_, folder) => tools.write(`${folder}/.engine/journal.jsonl`, ''),
    };
    test.each(Object.entries(trespasses))('D5 a dev that edits %s changes nothing that counts', async (_, trespass) => {
      const one = setUp();
      const name = one.unique('a');
      const folder = one.project.path('.nightshift/night');
      const again: Step[] = [writes(name), { report: SUCCESS }];
      const dev = [trespass(one, folder), ...again, { report: SUCCESS }];
      const shift = one.shift([{ name, dev }], { configuration: '- tools: bash', validation: CHECKED });
      const before = shift.task('work');
      const { code, events } = await one.start(shift);
      expect(code, reasons(events)).toBe(0);
      expect(shift.task('work')).toBe(before);
      expect(shift.rows()).toMatchObject([{ name, work: 'done' }]);
      expect(shift.journal().map(({ type }) => type)).toContain('dev:started');
    });
  });
}

// biome-ignore lint/suspicious/noExplicitAny: events of every kind
type Events = any[];

function attempts(events: Events): string[] {
  return events.filter(({ type }) => type === 'attempt:finished').map(({ status }) => status);
}

/** Of everything that did not go well, to be seen when a test fails. */
function reasons(events: Events): string {
  return events
    .filter(({ reason }) => reason !== undefined)
    .map(({ type, reason }) => `${type}: ${typeof reason === 'string' ? reason : JSON.stringify(reason)}`)
    .join('\n');
}

function returned(events: Events): string {
  return events
    .filter(({ type }) => type === 'item:returned')
    .map(({ reason }) => reason)
    .join('\n');
}
