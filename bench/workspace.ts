import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Figure, type Section } from './figure.ts';
import { megabytes, ms, NIGHTSHIFT, node, takeTurns, timed } from './measure.ts';
import { Project, SHIFT, STREAM, TASK } from './project.ts';

const ROUNDS = 5;
const FILES = 20_000;
const SETTINGS = { ...STREAM, workspace: 'worktree', deliver: 'branch' };

/** What a workspace costs: the time until an agent can start in it, and the disk. */
export async function workspace(): Promise<Section> {
  return { title: 'Workspaces', figures: [await timeToStart(), ...(await peakDisk())] };
}

/** A project that is a repository, with a place for workspaces beside it. */
class RepositoryProject extends Project {
  readonly state = mkdtempSync(join(tmpdir(), 'nightshift-bench-state-'));
  readonly env = { XDG_STATE_HOME: this.state };

  constructor(rows: number, step: string, files: number, bytes: number) {
    const table = Array.from({ length: rows }, (_, i) => `item-${i + 1},todo\n`).join('');
    super({ settings: SETTINGS, table: `name,${TASK}\n${table}`, step });
    for (let file = 0; file < files; file++) {
      const folder = join(this.root, 'src', `part-${file % 200}`);
      if (file < 200) mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `file-${file}.txt`), `${file}\n`.padEnd(bytes, 'text '));
    }
    writeFileSync(join(this.root, '.gitignore'), '.nightshift\n');
    this.git('init', '-q', '-b', 'main');
    this.git('config', 'user.name', 'Bench');
    this.git('config', 'user.email', 'bench@localhost');
    this.git('add', '-A');
    this.git('commit', '-qm', 'Files');
  }

  git(...args: string[]): void {
    execFileSync('git', args, { cwd: this.root });
  }

  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    rmSync(this.state, { recursive: true, force: true });
  }
}

/** From the claim of a row to the moment at which its first step runs. */
async function timeToStart(): Promise<Figure> {
  using project = new RepositoryProject(ROUNDS, 'date +%s%3N > begun', FILES, 400);
  const tree = join(project.state, 'tree');
  let row = 0;
  const taken = await takeTurns(ROUNDS, {
    git: async () => {
      const took = await timed(async () => project.git('worktree', 'add', '-q', '-b', `tree-${row}`, tree));
      project.git('worktree', 'remove', '--force', tree);
      return took;
    },
    ours: async () => {
      const args = [NIGHTSHIFT, 'start', SHIFT, '--json', '--rows', String(++row)];
      const { stdout } = await node(args, { cwd: project.root, env: project.env });
      const claimed = eventsIn(stdout).find(({ type }) => type === 'batch:claimed')!;
      const begun = spawnSync('git', ['show', `nightshift/${SHIFT}/item-${row}:begun`], { cwd: project.root });
      return Number(begun.stdout) - Date.parse(claimed.at);
    },
  });
  return {
    what: 'claim to first step, 20,000 files',
    ours: ms(taken.ours),
    other: `git worktree add: ${ms(taken.git)}`,
    ratio: taken.ours / taken.git,
    target: atMost(1.3),
  };
}

/** 100 rows, 8 at once: all that is on disk besides the project's own files, and what is left of it. */
async function peakDisk(): Promise<Figure[]> {
  const rows = 100;
  using project = new RepositoryProject(rows, 'date > changed.txt; sleep 1', 2000, 4000);
  const tree = join(project.state, 'tree');
  project.git('worktree', 'add', '-q', '-b', 'tree', tree);
  const checkout = diskOf(tree);
  project.git('worktree', 'remove', '--force', tree);
  const engine = join(project.folder, '.engine');
  let isOver = false;
  let peak = 0;
  const running = node([NIGHTSHIFT, 'start', SHIFT, '--json'], { cwd: project.root, env: project.env }).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    peak = Math.max(peak, diskOf(project.state) + diskOf(engine));
    await sleep(100);
  }
  const done = eventsIn((await running).stdout).filter(({ type, to }) => type === 'item:recorded' && to === 'done');
  if (done.length !== rows) throw new Error(`${done.length} of ${rows} rows were done`);
  return [
    {
      what: '100 rows, 8 at once: peak disk',
      ours: megabytes(peak),
      other: `8 checkouts: ${megabytes(8 * checkout)}`,
      ratio: peak / (8 * checkout),
      target: atMost(1.2),
    },
    {
      what: 'the same: workspaces left',
      ours: String(foldersIn(join(project.state, 'nightshift', 'workspaces'), 3).length),
      other: 'rows: 100',
      ratio: foldersIn(join(project.state, 'nightshift', 'workspaces'), 3).length / rows,
      target: atMost(0),
    },
  ];
}

function eventsIn(stdout: string): { type: string; at: string; to?: string }[] {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Files that vanish meanwhile are not counted. */
function diskOf(folder: string): number {
  const { stdout } = spawnSync('du', ['-s', '--block-size=1', folder], { encoding: 'utf8' });
  return Number(stdout.split('\t')[0]) || 0;
}

function foldersIn(folder: string, depth: number): string[] {
  if (!existsSync(folder)) return [];
  const inside = readdirSync(folder).map((name) => join(folder, name));
  return depth === 1 ? inside : inside.flatMap((each) => foldersIn(each, depth - 1));
}
