import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../test/harness.ts';
import { sandboxTest } from '../../../test/kit/sandbox-test.ts';
import { confine, type SandboxMode, whyNotConfined, withMounts } from '../../core/workspace/sandbox.ts';
import { type ProcessResult, runProcess, SHELL } from './process.ts';
import { bwrapArguments, findConfiner } from './sandbox.ts';

/** A person's machine in a temporary folder: a home with a project and its shifts, and two workspaces. */
const top = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-sandbox-')));
const home = join(top, 'home');
const root = join(home, 'project');
const [own, other] = [join(home, 'workspaces/own'), join(home, 'workspaces/other')];
const scratch = join(top, 'scratch');
const system = `/etc/nightshift-escape-${process.pid}`;
const abstract = `\0nightshift-${process.pid}`;

const FILES: Record<string, string> = {
  'home/.bashrc': 'mine',
  'home/.ssh/id_ed25519': 'a private key',
  'home/.aws/credentials': 'a cloud key',
  'home/.gitconfig': '[user]\n\tname = Me\n\temail = me@example.com\n',
  'home/project/.nightshift/one/table.csv': 'page,write\na,todo\n',
  'home/project/.nightshift/one/.env': 'TOKEN=one',
  'home/project/.nightshift/one/.engine/journal.jsonl': '{}',
  'home/project/.nightshift/two/table.csv': 'page,write\nb,todo\n',
  'home/project/.nightshift/two/.env': 'TOKEN=two',
  'home/project/src.txt': 'source',
  'home/workspaces/other/work.txt': 'the work of another item',
  'other-tmp/note.txt': 'a temporary file of another program',
};

let victim: ChildProcess;
let web: Server;
let unix: Server;
let hidden: Server;

const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { env: { ...process.env, HOME: home } });

function listen(server: Server, where: object): Promise<Server> {
  return new Promise((resolve) => server.listen(where, () => resolve(server)));
}

beforeAll(async () => {
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(top, file)), { recursive: true });
    writeFileSync(join(top, file), text);
  }
  mkdirSync(scratch);
  git('init', '--quiet', '--initial-branch=main');
  git('add', 'src.txt');
  git('commit', '--quiet', '-m', 'first');
  git('worktree', 'add', '--quiet', '-b', 'row', own);
  victim = spawn('sleep', ['300'], { stdio: 'ignore' });
  const answer = () => createServer((socket) => socket.end('reached'));
  web = await listen(answer(), { port: 0, host: '127.0.0.1' });
  unix = await listen(answer(), { path: join(home, 'agent.sock') });
  hidden = await listen(answer(), { path: abstract });
});

afterAll(() => {
  victim.kill('SIGKILL');
  for (const server of [web, unix, hidden]) server.close();
  for (const each of [top, system]) rmSync(each, { recursive: true, force: true });
});

interface Launch {
  readonly mode?: SandboxMode;
  /** All items work in the project itself. */
  readonly isShared?: boolean;
  readonly input?: string;
  readonly signal?: AbortSignal;
  readonly onOutput?: () => void;
}

function sandboxOf({ mode = 'on', isShared = false }: Launch) {
  if (mode === 'off') return undefined;
  return confine({
    mode,
    home,
    temporary: join(top, 'other-tmp'),
    workspace: isShared ? root : own,
    isShared,
    scratch,
    root,
    repositories: [join(root, '.git')],
    secrets: [join(root, '.nightshift/two/.env')],
    path: `${process.env.PATH}:${dirname(process.execPath)}`,
  });
}

function run(script: string, launch: Launch = {}): Promise<ProcessResult> {
  const env = {
    ...{ PATH: process.env.PATH!, HOME: home, ROOT: root, OWN: own, OTHER: other, TOP: top, SYSTEM: system },
    ...{ SCRATCH: scratch, NODE: process.execPath, VICTIM: String(victim.pid), ENGINE: String(process.pid) },
    ...{ PORT: String((web.address() as { port: number }).port), ABSTRACT: abstract.slice(1) },
    ...{ NIGHTSHIFT_OUTPUT: join(scratch, 'output'), NIGHTSHIFT_SHIFT_DIR: join(root, '.nightshift/one') },
  };
  return runProcess({
    file: SHELL,
    args: ['-e', '-c', script],
    cwd: launch.isShared ? root : own,
    env,
    ...(launch.input === undefined ? {} : { input: launch.input }),
    signal: launch.signal ?? new AbortController().signal,
    keepBytes: 64 * 1024,
    ...(launch.onOutput && { onOutput: launch.onOutput }),
    sandbox: sandboxOf(launch),
  });
}

const connect = (where: string) =>
  `"$NODE" -e 'require("net").connect(${where}).on("error", () => process.exit(1)).on("data", () => process.exit(0))'`;

/** Everything that is not the item's own, by its content. */
function outside(): Record<string, string> {
  const files = readdirSync(top, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map((entry) => join(entry.parentPath, entry.name)).sort();
  const others = names.filter((name) => !name.startsWith(own) && !name.startsWith(scratch));
  return Object.fromEntries(others.map((name) => [name, readFileSync(name, 'latin1')]));
}

/** Each script succeeds if it escapes. What it would change belongs to this test; nothing is written to the system. */
const ESCAPES: readonly (readonly [name: string, script: string, launch?: Launch])[] = [
  ['writes to the home folder', 'echo x >> "$HOME/.bashrc"; grep -q mine "$HOME/.bashrc"'],
  ['writes to the system', ': > "$SYSTEM"'],
  ['writes to another workspace', 'echo x >> "$OTHER/work.txt"'],
  ['reads another workspace', 'cat "$OTHER/work.txt"'],
  ['writes to the main checkout', 'echo x >> "$ROOT/src.txt"'],
  ['adds a hook', 'echo x > "$ROOT/.git/hooks/pre-commit"'],
  ['adds a hook in a shared folder', 'echo x > .git/hooks/pre-commit', { isShared: true }],
  ['sets core.hooksPath', 'git config core.hooksPath /tmp'],
  ['sets core.hooksPath in a shared folder', 'git config core.hooksPath /tmp', { isShared: true }],
  ['replaces .git in a shared folder', 'mv .git .git-old', { isShared: true }],
  ['replaces .nightshift in a shared folder', 'mv .nightshift .nightshift-old', { isShared: true }],
  ['moves a branch', 'git update-ref refs/heads/main "$(git commit-tree -m x HEAD^{tree})"'],
  ["writes another shift's table", 'echo x >> .nightshift/two/table.csv', { isShared: true }],
  ['writes the table', 'echo x >> .nightshift/one/table.csv', { isShared: true }],
  [
    'replaces the table',
    'cp src.txt .nightshift/one/new && mv .nightshift/one/new .nightshift/one/table.csv',
    { isShared: true },
  ],
  ['writes .env', 'echo x >> .nightshift/one/.env', { isShared: true }],
  ['writes what the engine keeps', 'echo x >> .nightshift/one/.engine/journal.jsonl', { isShared: true }],
  ["reads another shift's secrets", 'grep TOKEN "$ROOT/.nightshift/two/.env"'],
  ['reads ~/.ssh', 'cat "$HOME/.ssh/id_ed25519"'],
  ['reads ~/.aws', 'cat "$HOME/.aws/credentials"'],
  ['reads temporary files of others', 'cat "$TOP/other-tmp/note.txt"'],
  ['follows a symbolic link out', 'ln -sf "$HOME/.bashrc" link; echo x >> link; grep -q mine link'],
  ['makes a hard link out', 'ln "$ROOT/src.txt" hard'],
  ['kills a process outside', 'kill -9 "$VICTIM"'],
  ['kills the engine or its guard', 'kill -0 "$ENGINE"'],
  ['sees other processes', "grep -aq 'slee[p].300' /proc/[0-9]*/cmdline"],
  ['reads the memory of the engine', 'head -c 1 "/proc/$ENGINE/maps"'],
  ["uses the agent's socket in the home folder", connect('process.env.HOME + "/agent.sock"')],
  ['mounts', 'mount -t tmpfs none /mnt'],
  ['mounts a path writable again', 'mount -o remount,rw,bind /'],
  ['mounts in a namespace of its own', 'unshare --user --map-root-user --mount true'],
  ['changes its root', 'chroot / true'],
  ['gains rights by setuid', 'grep -q "NoNewPrivs:.0" /proc/self/status'],
  ['has capabilities', 'grep -q "CapBnd:.*[1-9a-f]" /proc/self/status'],
  ['reads the memory of the machine', 'test -e /dev/mem || test -e /dev/kmem || test -e /dev/vda || test -e /dev/sda'],
  ['makes a device', 'mknod device b 254 0'],
  // Appends nothing: opening it is what must fail.
  ['opens a setting of the kernel', ': >> /proc/sys/kernel/core_pattern'],
  ['opens a setting in /sys', ': >> /sys/kernel/mm/transparent_hugepage/enabled'],
  ['inherits a file descriptor', 'ls /proc/self/fd | grep -vx -e 0 -e 1 -e 2 -e 3 -e 10'],
  ['types into a terminal', '"$NODE" -e \'require("fs").openSync("/dev/tty", "r+")\''],
  ['reaches loopback without network', connect('process.env.PORT, "127.0.0.1"'), { mode: 'offline' }],
  ['reaches an abstract socket without network', connect('"\\0" + process.env.ABSTRACT'), { mode: 'offline' }],
  ['has an interface without network', 'grep -v -e lo: -e "|" /proc/net/dev', { mode: 'offline' }],
];

for (const [name, script, launch] of ESCAPES) {
  sandboxTest(`W12 refused in the sandbox: ${name}`, async () => {
    const before = outside();
    const ended = await run(script, launch);
    expect(ended).toMatchObject({ kind: 'exited' });
    expect(ended).not.toMatchObject({ code: 0 });
    expect(ended.stderr.text).not.toMatch(/not found|bwrap:/);
    expect(outside()).toEqual(before);
    expect(existsSync(system)).toBe(false);
    expect(victim.exitCode ?? victim.signalCode).toBe(null);
  });
}

/** Those that only read, and nothing but what belongs to this test. */
const READING = /^(reads (another|~|temporary)|uses the agent|reaches|sees other|kills the engine)/;

test('W12 without the sandbox, the same scripts do what they try', async () => {
  const reading = ESCAPES.filter(([name]) => READING.test(name));
  expect(reading.length).toBe(10);
  for (const [name, script, launch] of reading) {
    expect({ name, ...(await run(script, { ...launch, mode: 'off' })) }).toMatchObject({
      name,
      kind: 'exited',
      code: 0,
    });
  }
});

sandboxTest('W12 ordinary work works in the sandbox', async () => {
  const script = `
    git status --short; git diff --stat; git log --oneline | grep -q first
    echo changed >> src.txt; git status --short | grep -q 'M src.txt'
    test "$(git config user.name)" = Me
    echo x > "$TMPDIR/t"; echo y > /tmp/t; mkdir -p "$HOME/.cache/tool" && echo z > "$HOME/.cache/tool/z"
    echo '{"scripts":{"test":"node -e 0"}}' > package.json; npm test --silent
    echo page=done >> "$NIGHTSHIFT_OUTPUT"; cat "$NIGHTSHIFT_SHIFT_DIR/table.csv" > /dev/null
    cat; echo said; echo warned >&2; exit 7`;
  const ended = await run(`export TMPDIR=/tmp; ${script}`, { input: 'what it is asked' });
  expect(ended).toMatchObject({ kind: 'exited', code: 7, stderr: { text: 'warned\n' } });
  expect(ended.stdout.text).toContain('what it is askedsaid\n');
  expect(readFileSync(join(scratch, 'output'), 'utf8')).toBe('page=done\n');
  expect(readFileSync(join(own, 'src.txt'), 'utf8')).toContain('changed');
  expect(existsSync(join(home, '.cache'))).toBe(false);
  expect(await run(connect('process.env.PORT, "127.0.0.1"'))).toMatchObject({ kind: 'exited', code: 0 });
});

sandboxTest(
  'W12 R6 a sandbox that is stopped gets its time to clean up, and leaves no process, not even a daemon',
  async () => {
    const stop = new AbortController();
    const tree = `
    setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' & setsid env -i /bin/sleep 299.${process.pid} &
    trap 'echo cleaned > "$SCRATCH/cleaned"; exit' TERM; echo ready; while :; do sleep 0.1; done`;
    const running = run(tree, { signal: stop.signal, onOutput: () => stop.abort() });
    expect(await running).toMatchObject({ kind: 'aborted' });
    expect(readFileSync(join(scratch, 'cleaned'), 'utf8')).toBe('cleaned\n');
    expect(processesWith(`299.${process.pid}`)).toEqual([]);
  },
);

sandboxTest('W12 R6 what a program leaves behind in the sandbox ends with it', async () => {
  await run(`setsid env -i /bin/sleep 298.${process.pid} > /dev/null 2>&1 & sleep 0.1`);
  await until(() => processesWith(`298.${process.pid}`).length === 0, 'the end of the daemon');
});

function processesWith(word: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word);
    } catch {
      return false;
    }
  });
}

sandboxTest('W12 a program that is missing, or a folder that is gone, is told as without a sandbox', async () => {
  const env = { PATH: process.env.PATH! };
  const request = { args: [], cwd: own, env, signal: new AbortController().signal, keepBytes: 1024 };
  const sandbox = sandboxOf({});
  expect(await runProcess({ ...request, file: 'no-such-program', sandbox })).toMatchObject({
    kind: 'exited',
    code: 127,
  });
  const gone = await runProcess({ ...request, file: 'true', cwd: join(own, 'gone'), sandbox });
  expect(gone).toMatchObject({ kind: 'not-started', fault: 'item' });
  const broken = withMounts(sandbox, [{ path: '/proc/nightshift', access: 'read', from: '/etc' }]);
  expect(await runProcess({ ...request, file: 'true', sandbox: broken })).toMatchObject({
    kind: 'not-started',
    fault: 'system',
    reason: expect.stringContaining("the sandbox can't be made: bwrap: "),
  });
});

test('W12 deeper paths are mounted later, and the network goes only where it is not wanted', () => {
  const mounts = [
    { path: '/w/.git', access: 'read' as const },
    { path: '/w', access: 'write' as const },
    { path: '/', access: 'hidden' as const },
  ];
  const all = bwrapArguments({ forbidsNamespaces: true }, { mounts, hasNetwork: true }, '/w', ['true']).join(' ');
  expect(all).toContain('--tmpfs / --bind /w /w --ro-bind /w/.git /w/.git --chdir /w -- true');
  expect(all).not.toContain('--unshare-net');
  const offline = bwrapArguments({ forbidsNamespaces: false }, { mounts, hasNetwork: false }, '/w', ['true']).join(' ');
  expect(offline).toContain('--unshare-net');
  expect(offline).not.toContain('--disable-userns');
});

test('W12 a folder that holds the home folder, or is in .nightshift, is no workspace for a sandbox', () => {
  expect(whyNotConfined('/people', { home: '/people/me', root: '/people/me/p' })).toContain('home folder');
  expect(whyNotConfined('/', { home: '/people/me', root: '/people/me/p' })).toContain('home folder');
  expect(whyNotConfined('/people/me/p/.nightshift/s', { home: '/people/me', root: '/people/me/p' })).toContain(
    '.nightshift',
  );
  expect(whyNotConfined('/people/me/p', { home: '/people/me', root: '/people/me/p' })).toBe(undefined);
});

sandboxTest('W12 this machine can confine processes', async () => {
  expect(await findConfiner()).toMatchObject({ file: expect.stringContaining('bwrap') });
});
