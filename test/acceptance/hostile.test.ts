import { randomBytes } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Project, shellTask, task, until } from '../harness.ts';

const TABLE = 'name,work\na,todo\n';

test('R7 an agent that puts a pipe in place of its output file holds nobody up', async () => {
  const shift = new Project().shift('night', {
    settings: { agent: 'shell' },
    table: TABLE,
    tasks: { work: shellTask('rm -f "$NIGHTSHIFT_OUTPUT"; mkfifo "$NIGHTSHIFT_OUTPUT"') },
  });
  expect((await shift.start()).code).toBe(0);
});

test('D4 an output that could not be read again fails the attempt, and not the run', async () => {
  const shift = new Project().shift('night', {
    settings: { agent: 'shell' },
    table: 'name,work\na,todo\nb,todo\n',
    tasks: { work: shellTask(`printf 'size=1\\0002\\n' >> "$NIGHTSHIFT_OUTPUT"`, 'true', '- outputs: size') },
  });
  const { code, events } = await shift.start();
  expect(code).toBe(3);
  expect(events.find((event) => event.type === 'dev:finished').reason).toContain('`size` holds a NUL byte');
  expect(shift.column('work')).toEqual(['failed', 'failed']);
});

test('S4 a value of .env that is also a part of a name hides no reason', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: 'name,update_wordpress\na,todo\n',
    tasks: { update_wordpress: shellTask('echo no luck; exit 1') },
    env: 'DB_USER=wordpress\n',
  });
  expect((await shift.start()).code).toBe(3);
  expect((await project.run(['status'])).stdout).toContain('no luck');
});

test('T6 a run whose own files are cleaned away is still the only one', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: TABLE,
    tasks: { work: shellTask('touch begun; while ! test -e go; do sleep 0.05; done') },
  });
  const first = shift.spawn();
  await until(() => project.exists('begun'), 'the first run');
  rmSync(project.path(shift.folder, '.engine'), { recursive: true });
  expect((await shift.start()).code).toBe(5);
  project.write('go', '');
  expect((await first.ended).code).toBe(0);
  expect(shift.column('work')).toEqual(['done']);
});

test('T3 R10 lines of the journal that are no events are passed over', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: TABLE,
    tasks: { work: shellTask('true') },
  });
  expect((await shift.start()).code).toBe(0);
  const lines = ['{"type":"steps:kept","at":"x","task":"work"}', '{"type":"table:edited","at":"x"}', 'null', '{"half'];
  appendFileSync(project.path(shift.folder, '.engine/journal.jsonl'), `${lines.join('\n')}\n`);
  expect((await project.run(['status'])).code).toBe(0);
  expect((await project.run(['table', 'reset', '--index', '0'])).code).toBe(0);
  expect((await shift.start()).code).toBe(0);
});

/** Reasons, prompts and events are cut at different lengths: a value ends up on each of the cuts. */
test.each(['shell', 'command'])(
  'S4 D4 no part of a secret is left where what a %s agent said is cut',
  async (agent) => {
    const project = new Project();
    const secret = `sk-${randomBytes(45).toString('base64url')}`;
    const pads = Array.from({ length: 24 }, (_, i) => 200 + i * 45);
    project.write(
      'talk.mjs',
      `const [pad, agent] = [Number(process.argv[2] ?? JSON.parse(process.env.NIGHTSHIFT_ITEM).pad), ${JSON.stringify(agent)}];
const text = 'x'.repeat(pad) + process.env.API_KEY + ' ' + 'y'.repeat(1200 - pad) + process.env.API_KEY + 'z'.repeat(pad);
console.error(text);
if (agent === 'command') console.log(JSON.stringify({ overall_status: 'FAILED (step 1)', error: text, recommendations: [text] }));
else process.exit(1);
`,
    );
    const shift = project.shift('night', {
      settings: {
        agent,
        command: `${process.execPath} talk.mjs`,
        parallel: true,
        'current-batch-size': 24,
        'max-same-failures': 'none',
      },
      table: `pad,work\n${pads.map((pad) => `${pad},todo\n`).join('')}`,
      tasks: {
        work:
          agent === 'shell'
            ? shellTask(`${process.execPath} talk.mjs {pad}`)
            : task({ steps: '1. Talk', validation: '- It is said' }),
      },
      env: `API_KEY=${secret}\n`,
    });
    const { code, stdout, stderr } = await shift.start();
    expect(code).toBe(3);
    const engine = project.path(shift.folder, '.engine');
    const files = readdirSync(engine, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const kept = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    const seen = [
      ...kept,
      stdout,
      stderr,
      (await project.run(['status'])).stdout,
      (await project.run(['export'])).stdout,
    ].join('\n');
    const parts = Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8));
    expect(parts.filter((part) => seen.includes(part))).toEqual([]);
    expect(seen).toContain('[API_KEY]');
  },
);

test('D4 V1 outputs, columns and tasks may have the names of what every object has', async () => {
  const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: 'valueOf,constructor\na,todo\nb,todo\n',
    tasks: {
      constructor: shellTask(
        names
          .map(
            (name) =>
              `[ {valueOf} = b ] || echo "${name === 'constructor' ? 'prototype' : name}={valueOf}-1" >> "$NIGHTSHIFT_OUTPUT"`,
          )
          .join('\n'),
        'true',
        `- outputs: prototype, ${names.slice(1).join(', ')}`,
      ),
    },
  });
  const { code, events } = await shift.start();
  expect(code).toBe(3);
  expect(shift.tableText.split('\n').slice(0, 2)).toEqual([
    'valueOf,constructor,prototype,__proto__,toString,hasOwnProperty',
    'a,done,a-1,a-1,a-1,a-1',
  ]);
  const missing = events.find((event) => event.type === 'dev:finished' && event.index === 1);
  expect(missing.reason).toContain(
    'the declared output `prototype`, `__proto__`, `toString`, `hasOwnProperty` is missing',
  );
  for (const command of ['status', 'export', 'table show', 'doctor']) {
    const { code, stderr } = await project.run(command.split(' '));
    expect([command, code, stderr]).toEqual([command, expect.any(Number), expect.not.stringContaining('bug')]);
  }
});
