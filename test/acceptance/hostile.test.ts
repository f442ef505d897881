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
  const first = shift.launch();
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
    for (const [index, pad] of pads.entries()) {
      const text = `${'x'.repeat(pad)}${secret} ${'y'.repeat(1200 - Math.min(pad, 1200))}${secret}${'z'.repeat(pad)}`;
      const report = { overall_status: 'FAILED (step 1)', error: text, recommendations: [text] };
      project.write(`says/error-${index}`, `${text}\n`);
      project.write(`says/report-${index}`, `${JSON.stringify(report)}\n`);
    }
    const talk = 'cat "says/error-$NIGHTSHIFT_INDEX" >&2';
    const shift = project.shift('night', {
      settings: {
        ...{ agent, command: `${talk}; cat "says/report-$NIGHTSHIFT_INDEX"`, attempts: 2 },
        ...{ parallel: true, 'current-batch-size': 24, 'max-same-failures': 'none' },
      },
      table: `pad,work\n${pads.map((pad) => `${pad},todo\n`).join('')}`,
      tasks: {
        work: agent === 'shell' ? shellTask(`${talk}\nexit 1`) : task({ steps: '1. Talk', validation: '- It is said' }),
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

/** Prints its secrets, encoded in many ways, wherever an agent can say something. */
const BLABBER = `
import { appendFileSync } from 'node:fs';
const { NIGHTSHIFT_ROLE: role, NIGHTSHIFT_ITEM, NIGHTSHIFT_OUTPUT, API_KEY, AWS_KEY } = process.env;
const { n } = JSON.parse(NIGHTSHIFT_ITEM ?? '{}');
const [base64, hex] = ['base64', 'hex'].map((encoding) => (text) => Buffer.from(text).toString(encoding));
const encodings = [String, base64, hex, JSON.stringify, encodeURIComponent, (text) => base64(base64(text)),
  (text) => base64('user:' + text), (text) => hex(text).replace(/../g, '%$&'), (text) => base64(text).replace(/.{11}/g, '$&\\n'),
  (text) => text.replace(/./g, (each) => '&#' + each.charCodeAt(0) + ';'), (text) => text.slice(3)];
const all = [API_KEY, AWS_KEY].flatMap((key) => encodings.map((encode) => encode(key))).join(' | ');
const text = (before) => 'x'.repeat(before) + all;
process.stderr.write(API_KEY.slice(0, 9), () => process.stderr.write(API_KEY.slice(9) + text(900)));
const say = (report) => console.log(JSON.stringify(report));
if (n === '3') throw new Error(text(300));
if (n === '4') say({ overall_status: API_KEY, key: AWS_KEY, usage: { cost_usd: API_KEY } });
else if (role === 'dev') {
  appendFileSync(NIGHTSHIFT_OUTPUT, API_KEY + '=' + AWS_KEY + '\\n');
  say({ overall_status: n === '2' ? 'FAILED (step 1)' : 'SUCCESS', error: text(990), captured_values: { [AWS_KEY]: all },
    steps: [{ step: 1, status: 'SUCCESS', output: text(1950) }], recommendations: [all, text(480), 'Use ' + API_KEY],
    self_validation: [{ criterion: all, status: 'PASS', reason: text(700) }], [API_KEY]: 1 });
} else if (role === 'qa') {
  say({ overall_status: 'PASS', criteria: [{ criterion: 'It is said', status: 'PASS', reason: text(700) }], summary: all });
} else say({ lessons: [{ text: 'Use ' + API_KEY + ' and ' + base64(AWS_KEY), from: [1, 2, 3] }], summary: all });
`;

test('S4 no 8 characters of a random secret are left anywhere, whatever an agent says about it', async () => {
  const project = new Project();
  const secrets = [`sk-live-${randomBytes(24).toString('hex')}`, randomBytes(33).toString('base64')];
  project.write('blab.mjs', BLABBER);
  const shift = project.shift('night', {
    settings: { agent: 'command', command: `${process.execPath} blab.mjs`, attempts: 2 },
    table: 'n,work\n1,todo\n2,todo\n3,todo\n4,todo\n',
    tasks: { work: task({ steps: '1. Use {ENV:API_KEY}', validation: '- It is said' }) },
    env: `API_KEY=${secrets[0]}\nAWS_KEY=${secrets[1]}\n`,
  });
  const { code, stdout, stderr } = await shift.start();
  expect(code).toBe(3);
  expect(shift.column('work')).toEqual(['done', 'failed', 'failed', 'failed']);
  const commands = [['status'], ['show', 'night', '2'], ['logs', 'night', '--row', '1', '--prompts']];
  const printed = await Promise.all(commands.map((command) => project.run(command)));
  const files = readdirSync(project.path(shift.folder), { recursive: true, withFileTypes: true });
  const kept = files
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.env'))
    .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), 'utf8')}`);
  const seen = [stdout, stderr, ...printed.map((each) => each.stdout + each.stderr), ...kept].join('\n');
  const runs = (text: string, length: number): string[] =>
    Array.from({ length: text.length - length + 1 }, (_, at) => text.slice(at, at + length));
  const parts = secrets.flatMap((secret) => [
    ...runs(secret, 8).filter((part) => /\d/.test(part)),
    ...runs(Buffer.from(secret).toString('hex'), 16),
    ...runs(Buffer.from(secret).toString('base64').replace(/=+$/, ''), 12),
  ]);
  expect(parts.filter((part) => seen.includes(part))).toEqual([]);
  expect(seen).toMatch(/Use \[API_KEY\]/);
});
