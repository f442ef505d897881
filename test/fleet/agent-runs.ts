import { existsSync, readFileSync } from 'node:fs';
import { shellTask } from '../harness.ts';
import { type FleetSite, holdOf } from './fleet-kit.ts';

/** One run of an agent for a row, as it told it itself. Times are in seconds. */
interface AgentRun {
  readonly row: number;
  /** Also in the column `by` of the row, once its end was recorded. */
  readonly id: string;
  readonly begin: number;
  /** Undefined: it was killed. */
  end: number | undefined;
}

interface WitnessOptions {
  /** Of the first row; absent: as of the others. */
  readonly firstSeconds?: number;
  readonly check?: string;
  /** More of the Configuration. */
  readonly settings?: string;
}

/**
 * A task whose agent does nothing for a while, and is its own witness: it appends a line when it begins and when it
 * ends, each in one write. `while-held`: until the test lets it go (`FleetSite.release`).
 */
export function witnessTask(file: string, seconds: number | 'while-held', options: WitnessOptions = {}): string {
  const { firstSeconds = seconds, check = 'true', settings = '' } = options;
  const step = [
    'id=$$-$EPOCHREALTIME',
    `echo "begin $NIGHTSHIFT_ROW $id $EPOCHREALTIME" >>'${file}'`,
    seconds === 'while-held'
      ? whileHeld(file)
      : `case $NIGHTSHIFT_ROW in 1) sleep ${firstSeconds} ;; *) sleep ${seconds} ;; esac`,
    'echo "by=$id" >>"$NIGHTSHIFT_OUTPUT"',
    `echo "end $NIGHTSHIFT_ROW $id $EPOCHREALTIME" >>'${file}'`,
  ].join('\n');
  const task = shellTask(step, check, `- agent: shell\n- workspace: none\n- outputs: by${settings}`);
  return task.replace('```sh', '```bash');
}

/** For the script of an agent: waits while the test holds the agents of the site with this witness. */
export function whileHeld(witness: string): string {
  return `while test -e '${holdOf(witness)}'; do sleep 0.05; done`;
}

export function readAgentRuns(file: string): AgentRun[] {
  const found = new Map<string, AgentRun>();
  if (!existsSync(file)) return [];
  for (const line of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
    const [what, row, id, at] = line.split(' ') as [string, string, string, string];
    if (what === 'begin') found.set(id, { row: Number(row), id, begin: Number(at), end: undefined });
    else found.get(id)!.end = Number(at);
  }
  return [...found.values()];
}

export interface Verdict {
  /** Rows that are not done, or are done although no agent has finished them. */
  readonly lost: string[];
  readonly recordedTwice: string[];
  /** The accepted run of an agent ran beside another one, or another one began after it. */
  readonly acceptedBesideAnother: string[];
  /** How many runs of agents were more than one for a row. */
  readonly repeated: number;
}

/** What became of the rows of a shift with `witnessTask`, whose agents take this long. */
export function judge(site: FleetSite, task: string, seconds: number): Verdict {
  const runs = grouped(readAgentRuns(site.witness), ({ row }) => row);
  const records = grouped(
    site.journal().filter(({ type, to }) => type === 'item:recorded' && to === 'done'),
    ({ index }) => Number(index) + 1,
  );
  const lost: string[] = [];
  const acceptedBesideAnother: string[] = [];
  for (const [index, { [task]: status, by }] of site.shift.rows().entries()) {
    const row = index + 1;
    const all = runs.get(row) ?? [];
    const accepted = all.find(({ id }) => id === by);
    if (status !== 'done' || accepted?.end === undefined) {
      lost.push(`row ${row} is ${status} by ${by}: ${JSON.stringify(all)}`);
      continue;
    }
    // One that was killed can't have lived longer than its work takes.
    const isBeside = (other: AgentRun) => (other.end ?? other.begin + seconds) > accepted.begin;
    const others = all.filter((other) => other !== accepted && isBeside(other));
    if (others.length > 0) acceptedBesideAnother.push(`row ${row} by ${by}: ${JSON.stringify(all)}`);
  }
  const recordedTwice = [...records].filter(([, { length }]) => length > 1);
  return {
    lost,
    recordedTwice: recordedTwice.map(([row, events]) => `row ${row}: ${JSON.stringify(events)}`),
    acceptedBesideAnother,
    repeated: [...runs.values()].reduce((sum, { length }) => sum + length - 1, 0),
  };
}

function grouped<T>(all: readonly T[], keyOf: (each: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const each of all) groups.set(keyOf(each), [...(groups.get(keyOf(each)) ?? []), each]);
  return groups;
}
