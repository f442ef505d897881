import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGENT, agentTask, type Ended, NIGHTSHIFT, Project, processesOf, shellTask, task, until } from '../harness.ts';

const ONE = 'name,work\nalpha,todo\n';
const TWO = 'name,work\nalpha,todo\nbeta,todo\n';
const ofType = ({ events }: Ended, type: string) => events.filter((event) => event.type === type);
const failure = (ended: Ended) =>
  ended.events.find(({ type, to }) => type === 'item:recorded' && to === 'failed')?.reason;
const callsOf = (project: Project, role: string) => project.calls().filter((call) => call.role === role && !call.ended);

test('X1 Shift Configuration is the default, a task wins over it, --agent over both', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell', command: 'false', timeout: '10m' },
    table: 'name,own,common\na,todo,todo\n',
    tasks: { own: agentTask(), common: shellTask('touch by-shell') },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(ofType(ended, 'dev:started').map(({ task: name, agent }) => [name, agent])).toEqual([
    ['own', 'command'],
    ['common', 'shell'],
  ]);
  expect(project.exists('by-shell')).toBe(true);
  await project.run(['table', 'night', 'reset', '--index', '0', '--task', 'common']);
  const override = await shift.start(['--agent', 'command', '--task', 'common']);
  expect(ofType(override, 'dev:started')).toMatchObject([{ task: 'common', agent: 'command' }]);
  expect(override.code).toBe(3);
});

test('X1 an unknown agent, a missing command and a wrong value are errors at start; a program that is not there is exit 6', async () => {
  for (const [configuration, code, message] of [
    ['- agent: shel', 2, 'did you mean shell?'],
    ['', 6, 'opencode'],
    ['- agent: claude', 6, 'claude'],
    ['- agent: command', 2, 'no command is set'],
    ['- agent: shell\n- timeout: soon', 2, '`timeout: soon` is not a time'],
    ['- agent: shell\n- qa: never', 2, '`qa: never` is not one of auto, always, parallel'],
    ['- agent: shell\n- qa: always', 2, '`qa: always` needs an agent that can judge'],
    ['- agent: command\n- command: no-such-program-anywhere --fast', 6, 'no-such-program-anywhere'],
  ] as const) {
    const project = new Project();
    const shift = project.shift('night', { table: ONE, tasks: { work: shellTask('true', 'true', configuration) } });
    const before = shift.manager;
    const ended = await project.run(['start', 'night']);
    expect([configuration, ended.code]).toEqual([configuration, code]);
    expect(ended.stderr).toContain(message);
    expect([shift.tableText, shift.manager]).toEqual([ONE, before]);
  }
});

test('X2 X3 a `bash` block runs in bash, a `sh` block in sh; one that looks like a script is refused by every command', async () => {
  const project = new Project();
  const inBash = (code: string) => `\n\n  \`\`\`bash\n  ${code}\n  \`\`\``;
  // An array and [[ ]] are not in POSIX; the value stays a value.
  const steps = `1. Do${inBash('words=(a b); echo $words > out')}\n2. Say${inBash('echo {name} "$BASH_VERSION" >> out')}`;
  const criterion = `- Done${inBash('[[ "$(cat out)" == a*"a; touch hacked "[0-9]* ]]')}`;
  const text = `## Steps\n\n${steps}\n\n## Validation\n\n${criterion}\n`;
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: 'name,work\na; touch hacked,todo\n',
    tasks: { work: text },
  });
  const ended = await shift.start();
  expect([ended.code, ended.stderr]).toEqual([0, '']);
  expect(project.exists('hacked')).toBe(false);

  const wrong = text.replaceAll('```bash', '```shell');
  project.write(`${shift.folder}/work.md`, wrong);
  project.write('more.md', wrong);
  for (const args of [
    ['preview', 'night', 'work', '--row', '1'],
    ['start', 'night', '--dry-run'],
    ['start', 'night'],
    ['add-task', 'night', 'more', '--from', 'more.md'],
  ]) {
    const { code, stderr } = await project.run(args);
    expect([args, code, stderr]).toEqual([args, 2, expect.stringMatching(/the ```shell block of \w+ 1 would not run/)]);
  }
  expect((await project.run(['doctor'])).stdout).toContain('the ```shell block of step 1 would not run');
});

test('X3 a shell step without a block, or a criterion without a check, is an error at start', async () => {
  const block = '\n  ```sh\n  true\n  ```';
  for (const [steps, validation, message] of [
    [`1. One${block}\n2. Two`, `- fine${block}`, 'step 2 of work has no `sh` or `bash` block'],
    [`1. One${block}`, `- fine${block}\n- looks good`, 'criterion 2 of work has no check'],
  ] as const) {
    const project = new Project();
    const shift = project.shift('night', {
      settings: { agent: 'shell' },
      table: ONE,
      tasks: { work: task({ steps, validation }) },
    });
    const { code, stderr } = await project.run(['start', 'night']);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(shift.tableText).toBe(ONE);
  }
});

test('X3 the blocks of the Steps run in order with sh -e, indented or not; other fences are not run', async () => {
  const project = new Project();
  const steps =
    '1. One\n```sh\necho 1 >> log\n```\n   ```\n   echo no >> log\n   ```\n2. Two\n   ```sh\n   echo 2a >> log\n   ```\n   and then\n   ```sh\n   echo 2b >> log\n   ```';
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: ONE,
    tasks: { work: task({ steps, validation: '- ok\n```sh\ngrep -q 2b log\n```' }) },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(project.read('log')).toBe('1\n2a\n2b\n');
  expect(callsOf(project, 'qa')).toEqual([]);
});

test('X1 X2 qa auto: with a check for every criterion the passing run is the verdict; always: qa is asked about all', async () => {
  const validation = '- checked\n  ```sh\n  echo checked >> log\n  ```';
  const configuration = (qa: string) => `- agent: command\n- command: ${AGENT}\n- qa: ${qa}`;
  const project = new Project();
  const shift = project.shift('night', {
    table: 'name,auto,always\nalpha,todo,todo\n',
    tasks: {
      auto: task({ configuration: configuration('auto'), steps: '1. Do', validation }),
      always: task({ configuration: configuration('always'), steps: '1. Do', validation }),
    },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(callsOf(project, 'qa').map((call) => call.task)).toEqual(['always']);
  expect(project.read('log')).toBe('checked\nchecked\n');
  // The status still goes through `qa`.
  const path = ofType(ended, 'item:recorded').map(({ task: name, from, to }) => `${name} ${from}-${to}`);
  expect(path).toEqual(['auto in_progress-qa', 'auto qa-done', 'always in_progress-qa', 'always qa-done']);
  expect(ofType(ended, 'qa:finished')[0].verdicts).toEqual([{ criterion: 'checked', status: 'PASS', checked: true }]);
});

test('X2 checks run for every agent at the end of each attempt, and a failing line is a failed criterion', async () => {
  const project = new Project();
  const validation =
    '- {name} is there\n  ```sh\n  echo check >> log\n  test -e {name}\n  echo never needed\n  ```\n- and nice';
  const shift = project.shift('night', {
    table: ONE,
    tasks: { work: task({ configuration: `- agent: command\n- command: ${AGENT}`, steps: '1. Do', validation }) },
  });
  project.behave({ 'dev:alpha:2': { sh: 'touch alpha' } });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(project.read('log')).toBe('check\ncheck\n');
  expect(ofType(ended, 'attempt:finished').map(({ status, reason }) => [status, reason])).toEqual([
    ['FAILED (validation)', expect.stringContaining('FAILED (validation): alpha is there: exit code 1')],
    ['SUCCESS', undefined],
  ]);
  // Only the rest is asked of qa.
  expect(callsOf(project, 'qa')[0].prompt).toContain('and nice');
  expect(callsOf(project, 'qa')[0].prompt).not.toContain('alpha is there');
});

test('X1 timeout covers the dev with all its attempts; a dev that ignores SIGTERM is ended with its tree, and that is final', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell', timeout: '1s' },
    table: ONE,
    tasks: { work: shellTask("trap '' TERM\n(trap '' TERM; setsid sh -c \"trap '' TERM; sleep 300\") &\nsleep 300") },
  });
  const ended = await shift.start();
  expect([ended.code, shift.column('work')]).toEqual([3, ['failed']]);
  expect(failure(ended)).toBe('timed out after 1s');
  expect(ofType(ended, 'attempt:finished')).toHaveLength(1);
  expect(processesOf(project.path('.nightshift/night'))).toEqual([]);
});

test('X1 attempts share one timeout, each qa has its own, check-timeout is for each check; what is over is final', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { timeout: '1s' },
    table: 'name,work\nslow,todo\njudged,qa\n',
    tasks: { work: agentTask() },
  });
  project.behave({ 'dev:slow': { sleep: 600, exit: 1 }, 'qa:judged': { sleep: 60_000 } });
  const other = new Project();
  const checked = other.shift('night', {
    settings: { agent: 'shell', 'check-timeout': '200ms' },
    table: ONE,
    tasks: { work: shellTask('echo try >> log', 'sleep 300') },
  });
  const [ended, over] = await Promise.all([shift.start(), checked.start()]);
  expect(ended.code).toBe(3);
  const reasons = Object.fromEntries(ofType(ended, 'item:recorded').map(({ index, reason }) => [index, reason]));
  expect(reasons).toEqual({ 0: 'timed out after 1s', 1: 'qa timed out after 1s' });
  // The third attempt would begin after 1.2 seconds.
  expect(callsOf(project, 'dev').length).toBeLessThan(3);
  expect(callsOf(project, 'qa').length).toBeLessThan(2);
  expect(failure(over)).toMatch(/^FAILED \(validation\): It is done: timed out after 0.2s$/);
  expect(other.read('log')).toBe('try\n');
});

test('X1 working-dir: placeholders, from the folder that holds .nightshift; missing when the item starts is that item failed', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell', 'working-dir': 'repos/{name}' },
    table: 'name,work\nalpha,todo\ngone,todo\n',
    tasks: { work: shellTask('pwd > here', 'test -e here') },
  });
  project.write('repos/alpha/README', '');
  const ended = await project.run(['start', 'night', '--json'], { cwd: project.path('repos') });
  expect(ended.code).toBe(3);
  expect(project.read('repos/alpha/here')).toBe(`${project.path('repos/alpha')}\n`);
  expect(shift.column('work')).toEqual(['done', 'failed']);
  expect(failure(ended)).toBe(`working-dir ${project.path('repos/gone')} does not exist`);
});

test('X1 outputs: columns before the first claim, values with the status, a missing one fails the attempt with that reason', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    table: 'name,work\nalpha,todo\nbeta,todo\ngamma,todo\n',
    tasks: { work: agentTask('1. Do', '- ok', '- outputs: url, size') },
  });
  project.behave({
    dev: { sh: 'head -1 .nightshift/night/table.csv > header' },
    'dev:alpha': { report: { captured_values: { url: 'https://x/?a=1,2', size: 7, other: 'not declared' } } },
    'dev:beta': {
      outputs: { url: 'from the file', size: 'first' },
      report: { captured_values: { size: 'from the report' } },
    },
    'dev:gamma': {
      report: { captured_values: { url: 'only this' } },
      sh: 'head -1 .nightshift/night/table.csv > header',
    },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(3);
  expect(project.read('header')).toBe('name,work,url,size\n');
  expect(shift.rows()).toEqual([
    { name: 'alpha', work: 'done', url: 'https://x/?a=1,2', size: '7' },
    { name: 'beta', work: 'done', url: 'from the file', size: 'from the report' },
    { name: 'gamma', work: 'failed', url: '', size: '' },
  ]);
  expect(failure(ended)).toBe('FAILED (validation): the declared output `size` is missing');
  expect(callsOf(project, 'dev').filter(({ name }) => name === 'gamma')).toHaveLength(3);
});

test('X4 S5 the environment is exactly the allow-list, pass-env, .env and NIGHTSHIFT_*', async () => {
  const project = new Project();
  project.shift('night', {
    table: 'name,odd,work\nfirst,1,todo\n"al""pha","a,b",todo\n',
    tasks: { work: agentTask('1. Do', '- ok', '- pass-env: SPECIAL, MINE_*') },
    env: 'TOKEN=from-dotenv\nSPECIAL=dotenv wins\n',
  });
  const caller = {
    ...{ PATH: process.env.PATH!, HOME: '/nowhere', LANG: 'C', LC_ALL: 'C', TERM: 'dumb', TMPDIR: '/tmp', USER: 'u' },
    ...{ SHELL: '/bin/sh', SSH_AUTH_SOCK: '/s', XDG_CACHE_HOME: '/c', https_proxy: 'http://p', NO_PROXY: 'x' },
    ...{ SSL_CERT_FILE: '/f', NODE_EXTRA_CA_CERTS: '/n', SPECIAL: 'caller', MINE_A: '1', MINE_: '2' },
  };
  const withheld = {
    AWS_SECRET_ACCESS_KEY: 'no',
    OPENAI_API_KEY: 'no',
    NODE_OPTIONS: '',
    MINEX: 'no',
    LCX: 'no',
    NIGHTSHIFT_OTHER: 'no',
  };
  const callersEnvironment = { ...caller, ...withheld };
  const { status } = spawnSync(process.execPath, [NIGHTSHIFT, 'start', 'night'], {
    cwd: project.root,
    env: callersEnvironment,
  });
  expect(status).toBe(0);
  const call = callsOf(project, 'dev')[1];
  // What the shell and Node add by themselves.
  const { PWD: _pwd, SHLVL: _shlvl, _: _last, OLDPWD: _old, ...env } = call.env;
  const { NIGHTSHIFT_OUTPUT: output, NIGHTSHIFT_KEY: key, ...rest } = env;
  expect(rest).toEqual({
    ...caller,
    TOKEN: 'from-dotenv',
    SPECIAL: 'dotenv wins',
    NIGHTSHIFT_ROLE: 'dev',
    NIGHTSHIFT_SHIFT: 'night',
    NIGHTSHIFT_SHIFT_DIR: project.path('.nightshift/night'),
    NIGHTSHIFT_TABLE: project.path('.nightshift/night/table.csv'),
    NIGHTSHIFT_TASK: 'work',
    NIGHTSHIFT_INDEX: '1',
    NIGHTSHIFT_ROW: '2',
    NIGHTSHIFT_ATTEMPT: '1',
    NIGHTSHIFT_ITEM: JSON.stringify({ name: 'al"pha', odd: 'a,b' }),
  });
  expect(key).toMatch(/^[0-9a-f]{32}$/);
  expect(output).toMatch(/^\//);
  const keys = callsOf(project, 'dev').map((each) => each.key);
  expect(new Set(keys).size).toBe(2);
  expect(callsOf(project, 'qa').map((each) => [each.key, each.env.NIGHTSHIFT_ROLE])).toEqual(
    keys.map((each) => [each, 'qa']),
  );
});

test('X4 LINE is run by sh -c in the folder that holds .nightshift; the report is the last JSON object, bare or in a fence', async () => {
  const project = new Project();
  const line = 'echo "$PWD" > where; cat > prompt; X=1 && cat said && echo to the transcript >&2';
  const validation = '- ok\n  ```sh\n  true\n  ```';
  const shift = project.shift('night', {
    table: ONE,
    tasks: { work: task({ configuration: `- agent: command\n- command: ${line}`, steps: '1. Do {name}', validation }) },
  });
  const failed = '{"overall_status": "FAILED (step 1)", "error": "the first"}';
  project.write('said', `${failed}\nThen:\n\`\`\`json\n{\n  "overall_status": "SUCCESS"\n}\n\`\`\`\nBye {not json}\n`);
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(project.read('where')).toBe(`${project.root}\n`);
  expect(project.read('prompt')).toContain('1. Do alpha');
  const [file] = JSON.parse((await project.run(['show', 'night', '1', '--json'])).stdout).tasks[0].transcripts;
  const transcript = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((entry) => JSON.parse(entry));
  expect(transcript.find(({ kind }) => kind === 'error').text).toBe('to the transcript\n');
  expect(transcript.find(({ kind }) => kind === 'prompt').text).toBe(project.read('prompt'));

  project.write('said', `{"overall_status": "SUCCESS"}\n${failed}\n`);
  await project.run(['table', 'night', 'reset', '--index', '0']);
  expect(failure(await shift.start())).toBe('FAILED (step 1): the first');
});

test('X4 a non-zero exit is never success, whatever the report says', async () => {
  const project = new Project();
  const shift = project.shift('night', { table: ONE, tasks: { work: agentTask() } });
  project.behave({ dev: { exit: 9, stderr: 'the disk of the agent is full' } });
  const ended = await shift.start();
  expect(ended.code).toBe(3);
  expect(failure(ended)).toMatch(/exit code 9: the disk of the agent is full/);
  expect(callsOf(project, 'dev')).toHaveLength(3);
});

test('X5 exit 75 gives the item back, whatever the report says; the others go on; a pause; exit 4 in the end', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { parallel: true, patience: '1s' },
    table: TWO,
    tasks: { work: agentTask() },
  });
  project.behave({ 'dev:alpha': { exit: 75, stderr: 'usage limit reached' } });
  const ended = await shift.start();
  expect(ended.code).toBe(4);
  expect(shift.column('work')).toEqual(['todo', 'done']);
  const [wait] = ofType(ended, 'run:waiting');
  expect(wait.reason).toContain('usage limit reached');
  expect(ofType(ended, 'run:finished')[0].reason).toContain('no progress for 1 second');
  const returned = ofType(ended, 'item:returned');
  expect(returned.every(({ index, reason }) => index === 0 && reason.includes('usage limit reached'))).toBe(true);
  // No attempt is used up: each try is a first one.
  const tries = callsOf(project, 'dev').filter(({ name }) => name === 'alpha');
  expect(tries.map(({ attempt }) => attempt)).toEqual(returned.map(() => '1'));
  project.behave({});
  expect((await shift.start()).code).toBe(0);
});

test('X5 too few descriptors for all agents: the others are given back, and done later', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell', parallel: true, 'current-batch-size': 40, 'max-batch-size': 40 },
    table: `name,work\n${Array.from({ length: 40 }, (_, i) => `n${i},todo\n`).join('')}`,
    tasks: { work: shellTask('until [ -e go ]; do sleep 0.1; done') },
  });
  const running = shift.launch([], { ulimit: '-n 128' });
  await running.seen('item:returned');
  project.write('go', '');
  const ended = await running.ended;
  expect([ended.code, ended.stderr]).toEqual([0, '']);
  for (const { reason } of ofType(ended, 'item:returned')) {
    expect(reason).toMatch(/^too many open files \(EMFILE\).*ulimit -n/);
  }
  expect(new Set(shift.column('work'))).toEqual(new Set(['done']));
});

test('X5 too few descriptors to begin with: exit 4 with what to do, and no stack', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: 'name,work\na,todo\n',
    tasks: { work: shellTask('true') },
  });
  // Enough to load the program, with every supported Node, and too few for the files of a run.
  const ended = await shift.start([], { ulimit: '-n 27' });
  expect(ended.stderr).toMatch(/^error: too many open files \(EMFILE\).*\n(.*\n)?.*ulimit -n.*$/m);
  expect(ended.stderr).not.toMatch(/bug|^ +at .*:\d+:\d+/m);
  expect([ended.code, shift.column('work')]).toEqual([4, ['todo']]);
});

test('X5 trouble in a later attempt gives back too, and the item starts at attempt 1 again', async () => {
  const project = new Project();
  const shift = project.shift('night', { table: ONE, tasks: { work: agentTask() } });
  project.behave({ 'dev:alpha:1': { exit: 1 }, 'dev:alpha:2': { exit: 75 } });
  const running = shift.launch();
  await running.seen('item:returned');
  project.behave({});
  expect((await running.ended).code).toBe(0);
  expect(callsOf(project, 'dev').map(({ attempt }) => attempt)).toEqual(['1', '2', '1']);
});

const SECRET = 'pa$$w0rd/ü+"long enough"';

test('S4 an output that holds a value of .env fails the attempt, and does not get into the table', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: 'name,work\na,todo\n',
    tasks: { work: shellTask('echo "token=Bearer $API_KEY" >> "$NIGHTSHIFT_OUTPUT"', 'true', '- outputs: token') },
    env: `API_KEY='${SECRET}'\n`,
  });
  const { code, events } = await shift.start();
  expect(code).toBe(3);
  expect(events.find((event) => event.type === 'dev:finished').reason).toContain('`token` contains a value of .env');
  expect(shift.rows()).toEqual([{ name: 'a', work: 'failed', token: '' }]);
});

test('S4 values of .env never rest: not in journal, transcripts, table, manifest or output, in whatever form they are printed', async () => {
  const project = new Project();
  const forms = [
    SECRET,
    Buffer.from(SECRET).toString('base64'),
    encodeURIComponent(SECRET),
    JSON.stringify(SECRET).slice(1, -1),
  ];
  const all = forms.join(' ');
  const passes = { overall_status: 'PASS', criteria: [{ criterion: 'ok', status: 'PASS', reason: all }] };
  const reports = {
    dev: {
      ...{ overall_status: 'SUCCESS', captured_values: { told: all }, recommendations: [all, 'Log in first'] },
      steps: [{ step: 1, status: 'SUCCESS', output: all }],
    },
    'qa-1': passes,
    'qa-2': { overall_status: 'FAIL', criteria: [{ criterion: 'x', status: 'FAIL', reason: all }], summary: all },
    manager: { lessons: [{ text: all, from: [1], same_as: null, after: null }], summary: all },
  };
  for (const [name, report] of Object.entries(reports)) project.write(`says/${name}`, `${JSON.stringify(report)}\n`);
  for (const [i, form] of forms.entries()) {
    project.write(`says/whole-${i}`, `<${form}>\n${form.slice(0, 7)}`);
    project.write(`says/rest-${i}`, `${form.slice(7)}\n`);
  }
  project.write('says/end', SECRET.slice(0, 9));
  // An agent that says it all: raw, base64, URL-encoded, in JSON, and cut in two over a pause, on both streams.
  project.write(
    'leak.sh',
    `for i in ${forms.map((_, i) => i).join(' ')}; do
  cat says/whole-$i; cat says/whole-$i >&2
  sleep 0.05
  cat says/rest-$i; cat says/rest-$i >&2
done
[ -z "$NIGHTSHIFT_OUTPUT" ] || printf 'filed=%s\\n' "$API_KEY" >> "$NIGHTSHIFT_OUTPUT"
case $NIGHTSHIFT_ROLE in qa) cat "says/qa-$NIGHTSHIFT_ROW";; *) cat "says/$NIGHTSHIFT_ROLE";; esac
cat says/end >&2
[ "$NIGHTSHIFT_ROW" != 2 ] || [ "$NIGHTSHIFT_ATTEMPT" = 2 ]
`,
  );
  const shift = project.shift('night', {
    settings: { parallel: true, 'current-batch-size': 3, attempts: 2 },
    table: 'name,work\na,todo\nb,todo\nc,todo\n',
    tasks: {
      work: task({
        configuration: '- agent: command\n- command: sh leak.sh',
        steps: '1. Log in with {ENV:API_KEY}',
        validation: '- ok\n- {ENV:API_KEY} works\n  ```sh\n  echo {ENV:API_KEY}; test "$NIGHTSHIFT_ROW" != 3\n  ```',
      }),
    },
    env: `API_KEY='${SECRET}'\n`,
  });
  const json = await shift.start();
  await project.run(['table', 'night', 'reset', '--index', '1']);
  const plain = await project.run(['start', 'night']);
  const said = [json.stdout, json.stderr, plain.stdout, plain.stderr];
  for (const args of [
    ['status', 'night'],
    ['show', 'night', '1'],
    ['show', 'night', '2', '--json'],
    ['preview', 'night', 'work', '--row', '2'],
  ]) {
    const { code, stdout, stderr } = await project.run(args);
    expect(code).toBe(0);
    said.push(stdout, stderr);
  }
  expect(shift.column('work')).toEqual(['done', 'failed', 'failed']);
  const folder = project.path('.nightshift/night');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== '.env')
    .map((entry) => join(entry.parentPath, entry.name));
  expect(files.filter((file) => file.includes('/transcripts/')).length).toBeGreaterThanOrEqual(6);
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    for (const form of forms) expect({ file, leaks: text.includes(form) }).toEqual({ file, leaks: false });
    // Entries of one stream put together again hold no secret either.
    if (file.includes('/transcripts/')) {
      const entries = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      for (const kind of ['output', 'error', 'prompt']) {
        const whole = entries
          .filter((entry) => entry.kind === kind)
          .map((entry) => entry.text)
          .join('');
        for (const form of forms)
          expect({ file, kind, leaks: whole.includes(form) }).toEqual({ file, kind, leaks: false });
        expect(whole).toContain(
          kind === 'prompt' && file.includes('manager')
            ? 'recommendations'
            : kind === 'prompt' && file.endsWith('-qa.jsonl')
              ? 'criterion'
              : '[API_KEY]',
        );
      }
      // The end of the output is kept, also where it is the beginning of a secret.
      const errors = entries
        .filter((entry) => entry.kind === 'error')
        .map((entry) => entry.text)
        .join('');
      expect(errors.endsWith(SECRET.slice(0, 9))).toBe(true);
    }
    // The run lock holds a process id; the folder it is in is closed to others anyway.
    if (file.includes('/.engine/') && !file.endsWith('.lock'))
      expect({ file, mode: statSync(file).mode & 0o077 }).toEqual({ file, mode: 0 });
  }
  expect(statSync(join(folder, '.engine')).mode & 0o077).toBe(0);
  for (const text of said) for (const form of forms) expect(text).not.toContain(form);
});

test('S5 R6 an agent may not write statuses with the command line, and nothing of it is left after the run', async () => {
  const project = new Project();
  const shift = project.shift('night', { table: TWO, tasks: { work: agentTask() } });
  const nightshift = `${process.execPath} ${NIGHTSHIFT}`;
  project.behave({
    'dev:alpha': { sh: `${nightshift} table night edit work 1 in_progress 2> said || true; setsid sleep 300 & true` },
  });
  expect((await shift.start()).code).toBe(0);
  expect(project.read('said')).toContain('`nightshift table` is not for an agent (dev) that works on an item');
  await until(() => processesOf(project.path('.nightshift/night')).length === 0, 'no process of the shift');
});
