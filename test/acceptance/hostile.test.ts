import { appendFileSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Project, shellTask, until } from '../harness.ts';

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
