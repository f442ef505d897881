import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Gate } from '../gate.ts';
import { agentTask, Project, type Running, type ShiftHandle, shellTask, until } from '../harness.ts';

const TABLE = 'name,work\na,todo\nb,todo\nc,todo\n';
const QUIET = { 'disable-self-improvement': true };

function copies(shift: ShiftHandle): string[] {
  return readdirSync(shift.project.path(shift.folder)).filter((name) => name.includes('.put-back-'));
}

function files(shift: ShiftHandle): Record<string, string> {
  const names = readdirSync(shift.project.path(shift.folder)).filter((name) => /\.(md|env)$/.test(name));
  const text = (name: string) => shift.project.read(`${shift.folder}/${name}`);
  return Object.fromEntries(names.map((name) => [name, text(name).replace(/## Progress[\s\S]*/, '')]));
}

interface InFlight {
  project: Project;
  shift: ShiftHandle;
  running: Running;
  gate: Gate;
}

/** A shift whose first dev waits until the gate is open. */
async function inFlight(settings = {}, table = TABLE): Promise<InFlight> {
  const project = new Project();
  const gate = new Gate(project);
  const tasks = { work: agentTask('1. Do {name} as {ENV:HOW}') };
  const shift = project.shift('night', { settings: { ...QUIET, ...settings }, table, tasks, env: 'HOW=well\n' });
  project.behave({ 'dev:a': { sh: gate.wait } });
  const running = shift.launch();
  await until(() => project.calls().some(({ name }) => name === 'a'), 'the dev of a');
  return { project, shift, running, gate };
}

describe('D5 what an agent changes of how items are done', () => {
  const dir = '"$NIGHTSHIFT_SHIFT_DIR"';
  const EDITS: Record<string, { sh: string; what: string | RegExp; keeps?: boolean }> = {
    'a setting': {
      sh: `sed -i 's/- created/- pass-env: HOME\\n- created/; s/- max-cost: 5/- max-cost: none/' ${dir}/manager.md`,
      what: 'max-cost: 5 -> none; pass-env: (not set) -> HOME',
    },
    'the Task Order, with a new task': {
      sh: `sed 's/Do/Never do/' ${dir}/work.md > ${dir}/new.md; sed -i 's/1. work/1. new\\n2. work/' ${dir}/manager.md`,
      what: 'Task Order: work -> new, work',
    },
    'the Steps': { sh: `sed -i 's/1. Do/1. Never do/' ${dir}/work.md`, what: 'Steps' },
    'the Validation': { sh: `sed -i 's/is done/is anything/' ${dir}/work.md`, what: 'Validation' },
    'the Configuration': { sh: `sed -i 's/^- agent/- timeout: 1s\\n- agent/' ${dir}/work.md`, what: 'Configuration' },
    'a secret': {
      sh: `echo PATH=/evil >> ${dir}/.env; sed -i s/well/evilly/ ${dir}/.env`,
      what: 'PATH added; HOW changed',
    },
    'a whole .env': { sh: `rm ${dir}/.env`, what: 'it was removed', keeps: false },
    'a task that it removes': { sh: `rm ${dir}/work.md`, what: 'it was removed', keeps: false },
    'a manifest that it removes': { sh: `rm ${dir}/manager.md`, what: 'it was removed', keeps: false },
    'a task that leads elsewhere': { sh: `cp ${dir}/work.md x; ln -sf "$PWD/x" ${dir}/work.md`, what: /symbolic link/ },
    'a manifest that is a folder': { sh: `rm ${dir}/manager.md; mkdir ${dir}/manager.md`, what: /is a folder/ },
  };
  test('D5 is put back, kept and reported; no other item notices', async () => {
    const project = new Project();
    const tasks = { work: agentTask('1. Do {name} as {ENV:HOW}') };
    const settings = { ...QUIET, 'max-cost': 5 };
    const edits = Object.entries(EDITS);
    const table = `name,work\n${edits.map(([name]) => `"${name}",todo\n`).join('')}`;
    const shift = project.shift('night', { settings, table, tasks, env: 'HOW=well\n' });
    const before = files(shift);
    project.behave(Object.fromEntries(edits.map(([name, { sh }]) => [`dev:${name}`, { sh }])));
    const { code, events, stderr } = await shift.start();
    expect([code, stderr, new Set(shift.column('work'))]).toEqual([0, '', new Set(['done'])]);
    const reverted = events.filter(({ type }) => type === 'edit:reverted');
    expect(reverted).toMatchObject(
      edits.map(([, { what }], index) => ({
        runningItems: [{ task: 'work', index }],
        what: typeof what === 'string' ? what : expect.stringMatching(what),
        remedy: 'nightshift accept night',
      })),
    );
    const { 'new.md': __, ...after } = files(shift);
    expect(after).toEqual(before);
    expect(copies(shift)).toHaveLength(edits.filter(([, { keeps }]) => keeps !== false).length);
    expect(JSON.stringify(events)).not.toContain('evilly');
    const prompts = project.calls().filter((call) => call.role === 'dev' && !call.ended);
    expect(prompts).toHaveLength(edits.length);
    for (const { name, prompt } of prompts) expect(prompt).toContain(`1. Do ${name} as well`);
  });

  test('D5 so is what a check, a qa or the agent of the manager changes, in batches and in a stream', async () => {
    const evil = 'sed -i "s/1. Do/1. Sabotage/" "$NIGHTSHIFT_SHIFT_DIR/work.md"';
    const cases = [
      ['check', 'stream'],
      ['qa:a', 'batch'],
      ['manager', 'batch'],
      ['manager', 'stream'],
    ] as const;
    await Promise.all(
      cases.map(async ([by, dispatch]) => {
        const project = new Project();
        const check = `- It is fine\n\n  \`\`\`sh\n  ${evil}\n  \`\`\`\n- {name} is done`;
        const shift = project.shift('night', {
          settings: { parallel: true, dispatch, 'current-batch-size': 1, 'max-batch-size': 1 },
          table: TABLE,
          tasks: { work: agentTask('1. Do {name}', by === 'check' ? check : undefined) },
        });
        project.behave({
          dev: { report: { recommendations: by === 'manager' ? ['Knock', 'Wipe your feet'] : [] } },
          ...(by === 'check' ? {} : { [by]: { sh: evil } }),
        });
        const { code, events } = await shift.start();
        expect([by, code]).toEqual([by, 0]);
        expect(events.some(({ type }) => type === 'edit:reverted')).toBe(true);
        expect(shift.task('work')).toContain('1. Do {name}');
        for (const { prompt } of project.calls().filter((call) => call.role === 'dev' && !call.ended)) {
          expect(prompt).toMatch(/^1\. Do \w$/m);
        }
      }),
    );
  });

  test('D5 git clean -fdx takes nothing away, and the night goes on', async () => {
    const project = new Project();
    const tasks = { work: agentTask('1. Do {name} as {ENV:HOW}') };
    const shift = project.shift('night', { settings: QUIET, table: TABLE, tasks, env: 'HOW=well\n' });
    const before = files(shift);
    const clean = 'cd "$NIGHTSHIFT_SHIFT_DIR"; rm -rf manager.md work.md .env .env.in-force .engine/in-force.json';
    const gate = new Gate(project);
    project.behave({ 'dev:a': { sh: clean }, 'dev:b': { sh: gate.wait } });
    const running = shift.launch();
    await until(() => project.calls().some(({ name }) => name === 'b'), 'the dev of b');
    expect(files(shift)).toEqual(before);
    // What is in force is on the disk again, too.
    expect(project.read(`${shift.folder}/.env.in-force`)).toBe('HOW=well\n');
    expect(project.read(`${shift.folder}/.engine/in-force.json`)).not.toContain('well');
    gate.open();
    expect((await running.ended).code).toBe(0);
    expect(project.exists(`${shift.folder}/.env.in-force`)).toBe(false);
  });
});

describe('P4 X6 what may only become less', () => {
  test('P4 X6 a lower limit and the batch size take effect at once; the rest of the same edit is put back', async () => {
    const settings = { parallel: true, 'current-batch-size': 1, 'max-batch-size': 4, 'max-failures': 9 };
    const { project, shift, running, gate } = await inFlight(settings, `${TABLE}d,todo\n`);
    shift.manager = `${shift.manager}\nA note of mine.\n`.replace('current-batch-size: 1', 'current-batch-size: 2');
    shift.manager = shift.manager
      .replace('max-failures: 9', 'max-failures: 1')
      .replace('batch-size: 4', 'batch-size: 64');
    expect((await running.seen('edit:reverted')).what).toBe('max-batch-size: 4 -> 64');
    project.behave({ 'dev:b': { report: { overall_status: 'FAILED (step 1)', error: 'no' } } });
    gate.open();
    const { code, events } = await running.ended;
    expect(events.filter(({ type }) => type === 'batch:claimed').map(({ indices }) => indices)).toEqual([[0], [1, 2]]);
    expect([code, shift.manager]).toEqual([4, expect.stringContaining('A note of mine.')]);
    expect(shift.manager).toMatch(/max-batch-size: 4\n[\s\S]*max-failures: 1\n/);
  });
});

describe('D5 X6 while an item runs', () => {
  test.each([{}, { parallel: true, dispatch: 'stream', 'max-batch-size': 1 }])(
    'D5 X6 a lower limit drains the run at once: %j',
    async (mode) => {
      const { shift, running, gate } = await inFlight({ 'max-duration': '1h', ...mode });
      shift.manager = shift.manager.replace('max-duration: 1h', 'max-duration: 1s');
      const { signal, reason } = await running.seen('run:draining');
      expect([signal, reason]).toEqual(['limit', expect.stringContaining('max-duration')]);
      gate.open();
      const { code, events } = await running.ended;
      expect(code).toBe(4);
      expect(events.filter(({ type }) => type === 'edit:reverted')).toEqual([]);
    },
  );
});

describe('D5 a person puts an edit in force', () => {
  test('D5 accept shows the difference, asks, and puts it in force from the next claim', async () => {
    const { project, shift, running, gate } = await inFlight();
    const edited = shift.task('work').replace('1. Do', '1. Quickly do');
    project.write(`${shift.folder}/work.md`, edited);
    project.write(`${shift.folder}/.env`, 'HOW=secretly\n');
    await running.seen('edit:reverted', ({ file }) => file.endsWith('.env'));
    await running.seen('edit:reverted', ({ file }) => file.endsWith('work.md'));
    expect((await project.run(['status', 'night'])).stdout).toMatch(/reverted: edits of .*work\.md.*accept/);
    const asked = await project.run(['accept', 'night', 'work']);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('--yes')]);
    expect(asked.stdout).toContain('-1. Do {name} as {ENV:HOW}\n+1. Quickly do {name} as {ENV:HOW}\n');
    expect(shift.task('work')).not.toBe(edited);
    const accepted = await project.run(['accept', 'night', '--yes']);
    expect([accepted.code, accepted.stdout]).toEqual([0, expect.stringContaining('.env: HOW changed')]);
    expect(accepted.stdout).not.toContain('secretly');
    await running.seen('document:accepted', ({ file }) => file.endsWith('.env'));
    await running.seen('document:accepted', ({ file }) => file.endsWith('work.md'));
    gate.open();
    expect((await running.ended).code).toBe(0);
    const prompts = project.calls().filter((call) => call.role === 'dev' && !call.ended);
    expect(prompts.map(({ prompt }) => /1\. .* as \w+/.exec(prompt)![0])).toEqual([
      ...['1. Do a as well', '1. Quickly do b as secretly', '1. Quickly do c as secretly'],
    ]);
    expect(copies(shift)).toEqual([]);
    const nothing = await project.run(['accept', 'night']);
    expect(nothing).toMatchObject({
      code: 0,
      stdout: 'Nothing to accept: no edit of night was reverted.\n',
      stderr: '',
    });
    const { stdout } = await project.run(['accept', 'night', '--json']);
    expect(JSON.parse(stdout)).toEqual({ accepted: [], isRunning: false });
    const named = await project.run(['accept', 'night', 'work']);
    expect([named.code, named.stderr]).toEqual([2, expect.stringContaining('work has no reverted edit to accept')]);
  });

  test('D5 T4 a task that leaves the Task Order while its item runs: the item still ends as it would have', async () => {
    const project = new Project();
    const gate = new Gate(project);
    const tasks = { work: agentTask('1. Do {name}'), more: shellTask('true', 'true', '- agent: shell') };
    const shift = project.shift('night', { settings: QUIET, table: 'name,work,more\na,todo,todo\n', tasks });
    project.behave({ 'dev:a': { sh: gate.wait } });
    const running = shift.launch();
    await until(() => project.calls().length > 0, 'the dev of a');
    shift.manager = shift.manager.replace('1. work\n2. more', '1. more');
    await running.seen('edit:reverted');
    expect((await project.run(['accept', 'night', '--yes'])).code).toBe(0);
    await running.seen('document:accepted');
    gate.open();
    expect((await running.ended).code).toBe(0);
    expect(shift.tableText).toBe('name,work,more\na,done,done\n');
  });

  test('D5 accept works when no run is going on, and takes a new task with its Task Order', async () => {
    const { project, shift, running, gate } = await inFlight();
    project.write(`${shift.folder}/more.md`, shellTask('echo {name} >> more.txt', 'true', '- agent: shell'));
    shift.tableText = shift.tableText
      .replace('name,work', 'name,work,more')
      .replace(/(todo|in_progress)$/gm, '$1,todo');
    shift.manager = shift.manager.replace('1. work', '1. work\n2. more');
    await running.seen('edit:reverted');
    gate.open();
    expect((await running.ended).code).toBe(0);
    expect(project.exists('more.txt')).toBe(false);
    const { code, stdout } = await project.run(['accept', 'night', 'manager.md', '--yes']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\+2\. more\n[\s\S]*\+ *echo/)]);
    expect((await shift.start()).code).toBe(0);
    expect(project.read('more.txt')).toBe('a\nb\nc\n');
    expect(shift.manager).toContain('- Completed: 3\n');
  });

  test('D5 edit opens a copy, refuses what could not be run with its line, and keeps it', async () => {
    const { project, shift, running, gate } = await inFlight();
    const before = shift.task('work');
    const broken = await shift.edit('work', (text) => text.replace('{name}', '{nmae}'));
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringMatching(/nmae[\s\S]*your text is in (\S+)/)]);
    expect(shift.task('work')).toBe(before);
    const unknown = await shift.edit('wrok', () => '');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('did you mean work?')]);
    expect((await shift.edit('work', (text) => text)).stdout).toBe('work.md was not changed.\n');
    const inside = await project.run(['edit', 'night', 'work'], { env: { NIGHTSHIFT_ROLE: 'dev', EDITOR: 'true' } });
    expect(inside.code).toBe(2);
    const env = await shift.edit('env', (text) => text.replace('well', 'hidden'));
    expect([env.code, env.stdout]).toEqual([0, '.env: HOW changed\n.env: counts from the next item\n']);
    await running.seen('document:accepted');
    expect(running.events.filter(({ type }) => type === 'edit:reverted')).toEqual([]);
    gate.open();
    await running.ended;
    expect(project.calls().find(({ name }) => name === 'b').prompt).toContain('as hidden');
  });
});

describe('D5 after a run that was killed', () => {
  const EDIT = 'sed -i s/Do/Sabotage/ work.md; echo X=y >> .env; rm manager.md';

  /** The dev of a edits files and kills the run; answers the shift and its files before that. */
  async function killed(edit = EDIT): Promise<{ shift: ShiftHandle; before: Record<string, string> }> {
    const project = new Project();
    const tasks = { work: agentTask('1. Do {name} as {ENV:HOW}') };
    const shift = project.shift('night', { settings: QUIET, table: TABLE, tasks, env: 'HOW=well\n' });
    const before = files(shift);
    const pid = project.path('.nightshift/night/.engine/run.lock');
    project.behave({
      'dev:a:1': {
        sh: `[ -e .nightshift/once ] || { touch .nightshift/once; (cd "$NIGHTSHIFT_SHIFT_DIR"; ${edit}); kill -9 $(sed 's/.*"pid"://; s/,.*//' ${pid}); }`,
      },
    });
    expect((await shift.spawn().ended).signal).toBe('SIGKILL');
    return { shift, before };
  }

  test('D5 what was edited later is a person’s, unless its time of change was only set to that', async () => {
    const { shift, before } = await killed();
    const { project } = shift;
    project.write(`${shift.folder}/manager.md`, `${before['manager.md']}## Progress\n`);
    await isPast(shift);
    project.write(`${shift.folder}/.env`, 'HOW=mine\n');
    const later = new Date(Date.now() + 3600_000);
    utimesSync(project.path(shift.folder, 'work.md'), new Date(0), new Date(0));
    utimesSync(project.path(shift.folder, 'manager.md'), later, later);
    const { code, events } = await shift.start();
    expect(code).toBe(0);
    expect(events.filter(({ type }) => type === 'edit:reverted').map(({ what }) => what)).toEqual(['Steps']);
    expect(project.read(`${shift.folder}/.env`)).toBe('HOW=mine\n');
  });

  /** Longer ago than the agents of a killed run could have lived. */
  function isPast(shift: ShiftHandle): Promise<unknown> {
    const { ctimeMs } = statSync(shift.project.path(shift.folder, '.engine/in-force.json'));
    return until(() => Date.now() > ctimeMs + 3000, 'the last breath of the run');
  }

  test('D5 what was edited before its last sign of life, which can’t be made older, is put back, kept and reported', async () => {
    const daemon = `setsid env -i PATH="$PATH" sh -c 'sleep 300; : "$0"' 7>&- </dev/null >/dev/null 2>&1 & echo $! > ../daemon`;
    const { shift, before } = await killed(`${EDIT}; touch -d 2000-01-01 .engine/in-force.json; ${daemon}`);
    const { project } = shift;
    // The guard ends the daemon with the run.
    await until(() => !existsSync(`/proc/${project.read('.nightshift/daemon').trim()}`), 'the end of the daemon');
    const { code, events } = await shift.start();
    expect([code, files(shift)]).toEqual([0, before]);
    const reverted = events.filter(({ type }) => type === 'edit:reverted').map(({ what }) => what);
    expect(reverted.sort()).toEqual(['Steps', 'X added', 'it was removed']);
    expect(shift.journal().filter(({ type }) => type === 'edit:reverted')).toHaveLength(3);
    expect(copies(shift)).toHaveLength(2);
    for (const { prompt } of project.calls().filter((call) => !call.ended)) expect(prompt).not.toContain('Sabotage');
  });

  test.each(['echo X=y | tee -a .env > .env.in-force', 'rm .env .env.in-force'])(
    'D5 a start refuses a .env whose copy was changed as well: %s',
    async (edit) => {
      const { shift } = await killed(edit);
      const { project } = shift;
      const refused = await shift.start();
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('and so was its copy')]);
      expect(project.calls().filter(({ ended }) => !ended)).toHaveLength(1);
      await isPast(shift);
      project.write(`${shift.folder}/.env`, 'HOW=well\n');
      expect((await shift.start()).code).toBe(0);
    },
  );

  test('D5 after one that ended by itself every edit is a person’s', async () => {
    const { project, shift, running, gate } = await inFlight();
    const stop = project.launch(['stop', 'night']);
    await running.seen('run:draining');
    gate.open();
    expect([(await running.ended).code, (await stop.ended).code]).toEqual([130, 0]);
    project.write(`${shift.folder}/work.md`, shift.task('work').replace('1. Do', '1. Now do'));
    const { code, events } = await shift.start();
    expect([code, events.filter(({ type }) => type === 'edit:reverted')]).toEqual([0, []]);
    expect(project.calls().find(({ name }) => name === 'c').prompt).toContain('Now do c');
  });
});

test('D5 an attempt whose process has the file open for writing when the edit is noticed fails, and no other', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { ...QUIET, parallel: true, 'current-batch-size': 2, attempts: 1 },
    table: 'name,work\na,todo\nb,todo\n',
    tasks: { work: agentTask() },
  });
  // Both wait until the edit was noticed; only the first one made it, and still has the file open.
  const noticed = 'until ls "$NIGHTSHIFT_SHIFT_DIR" | grep -q put-back; do sleep 0.05; done';
  project.behave({
    'dev:a': { sh: `exec 7>> "$NIGHTSHIFT_SHIFT_DIR/work.md"; echo "- anything goes" >&7; ${noticed}` },
    'dev:b': { sh: noticed },
  });
  const { code, events } = await shift.start();
  expect(code).toBe(3);
  expect(shift.column('work')).toEqual(['failed', 'done']);
  const failed = events.find(({ type, index }) => type === 'dev:finished' && index === 0);
  expect(failed.reason).toContain('it edited what only Nightshift writes (work.md: Validation)');
});

test('D5 test-task holds documents and table as a run does, one at a time with a run', async () => {
  const project = new Project();
  const tasks = { work: agentTask('1. Do {name} as {ENV:HOW}') };
  const settings = { ...QUIET, attempts: 1 };
  const shift = project.shift('night', { settings, table: TABLE, tasks, env: 'HOW=well\n' });
  const before = files(shift);
  const edit = 'sed -i s/Do/Sabotage/ work.md; echo X=y >> .env; sed -i s/b,todo/b,done/ table.csv';
  const gate = new Gate(project);
  project.behave({ 'dev:a': { sh: `(cd "$NIGHTSHIFT_SHIFT_DIR"; ${edit}); ${gate.wait}` } });
  const tried = project.run(['test-task', 'night', 'work', '--row', '1']);
  const isAsBefore = () => isDeepStrictEqual([files(shift), shift.tableText], [before, TABLE]);
  await until(() => copies(shift).length === 3 && isAsBefore(), 'what was put back');
  const second = await shift.start();
  expect([second.code, second.stderr]).toEqual([5, expect.stringContaining('night')]);
  gate.open();
  const { code, stdout } = await tried;
  expect([code, stdout.match(/reverted/g)?.length]).toEqual([3, 3]);
  expect(stdout).toContain('it edited what only Nightshift writes (row 2: work from todo to done');
  // It has ended: what differs from now on is a person's.
  expect(project.exists(`${shift.folder}/.engine/in-force.json`)).toBe(false);
});
