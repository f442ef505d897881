import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The FIFO of the agent host. */
    agentRequests: string;
  }
}

/** An entry of `behaviour.json` in the folder where the agent works. */
interface Behaviour {
  /** Milliseconds. */
  sleep?: number;
  /** A line to run; if it fails, so does the agent. */
  sh?: string;
  write?: Record<string, string>;
  /** To `NIGHTSHIFT_OUTPUT`. */
  outputs?: Record<string, string>;
  stderr?: string;
  stdout?: string;
  /** Laid over the default report; null for no report. */
  report?: object | null;
  exit?: number;
}

/**
 * Decides what the agent fixture (fixtures/agent.sh) does, for all tests at once. It plays dev, qa and manager by the
 * entry `role:name:attempt` of `behaviour.json`, else `role:name`, else `role`, else `*`, where name is the item's cell
 * `name`. Every call is appended to the list of calls, which is not where agents work: that would void a qa's verdict.
 */
export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'nightshift-agent-host-'));
  const requests = join(folder, 'requests');
  execFileSync('mkfifo', ['-m', '622', requests]);
  execFileSync('chmod', ['733', folder]);
  // Open for writing too: a FIFO ends for its reader when its last writer is gone.
  const fifo = new Socket({ fd: openSync(requests, constants.O_RDWR | constants.O_NONBLOCK), writable: false });
  createInterface(fifo).on('line', (call) => answer(join(folder, call)));
  project.provide('agentRequests', requests);
  return () => {
    fifo.destroy();
    rmSync(folder, { recursive: true, force: true });
  };
}

function answer(folder: string): void {
  const [pid, cwd = '', listed] = readFileSync(join(folder, 'about'), 'utf8').split('\0');
  const prompt = readFileSync(join(folder, 'prompt'), 'utf8');
  const env = readEnvironment(join(folder, 'environment'));
  const calls = listed || join(env.NIGHTSHIFT_SHIFT_DIR ?? '', '../calls.jsonl');
  const { name } = JSON.parse(env.NIGHTSHIFT_ITEM ?? '{}');
  const call = {
    role: env.NIGHTSHIFT_ROLE,
    name,
    attempt: env.NIGHTSHIFT_ATTEMPT,
    key: env.NIGHTSHIFT_KEY,
    index: env.NIGHTSHIFT_INDEX,
    task: env.NIGHTSHIFT_TASK,
  };
  appendFileSync(calls, `${JSON.stringify({ ...call, at: Date.now(), pid: Number(pid), prompt, env })}\n`);
  const ended = JSON.stringify({ ended: true, ...call });
  const script = scriptOf(behaviourOf(cwd, call), { role: call.role ?? '', prompt });
  writeFileSync(
    join(folder, 'script'),
    `${script}printf '%s,"at":%s}\\n' ${quote(ended.slice(0, -1))} "$(date +%s%3N)" >> ${quote(calls)}\nexit "$code"\n`,
  );
  tell(join(folder, 'answered'));
}

function readEnvironment(file: string): Record<string, string> {
  const variables = readFileSync(file, 'utf8').split('\0').slice(0, -1);
  return Object.fromEntries(
    variables.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]),
  );
}

function behaviourOf(
  cwd: string,
  { role, name, attempt }: { role: string | undefined; name: string; attempt: string | undefined },
): Behaviour {
  let behaviours: Record<string, Behaviour> = {};
  try {
    behaviours = JSON.parse(readFileSync(join(cwd, 'behaviour.json'), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const keys = [`${role}:${name}:${attempt}`, `${role}:${name}`, `${role}`, '*'];
  return keys.map((key) => behaviours[key]).find((behaviour) => behaviour !== undefined) ?? {};
}

function scriptOf(wanted: Behaviour, { role, prompt }: { role: string; prompt: string }): string {
  const lines: string[] = [];
  if (wanted.sleep) lines.push(`sleep ${wanted.sleep / 1000}`);
  if (wanted.sh) lines.push(`sh -c ${quote(wanted.sh)} < /dev/null >&2 || exit 1`);
  for (const [file, text] of Object.entries(wanted.write ?? {}))
    lines.push(`printf %s ${quote(text)} > ${quote(file)}`);
  for (const [name, value] of Object.entries(wanted.outputs ?? {})) {
    lines.push(`printf '%s\\n' ${quote(`${name}=${value}`)} >> "$NIGHTSHIFT_OUTPUT"`);
  }
  if (wanted.stderr) lines.push(`printf %s ${quote(wanted.stderr)} >&2`);
  if (wanted.stdout) lines.push(`printf %s ${quote(wanted.stdout)}`);
  if (wanted.report !== null) {
    lines.push(`printf '%s\\n' ${quote(JSON.stringify({ ...defaultReport(role, prompt), ...wanted.report }))}`);
  }
  lines.push(`code=${wanted.exit ?? 0}`);
  return lines.map((line) => `${line}\n`).join('');
}

function defaultReport(role: string, prompt: string): object {
  if (role === 'dev') return { overall_status: 'SUCCESS' };
  if (role !== 'qa') return { lessons: [], summary: 'nothing' };
  const criteria = [...prompt.matchAll(/<criterion-\w+>\n([\s\S]*?)\n<\/criterion-\w+>/g)].map(([, text]) => text);
  return { overall_status: 'PASS', criteria: criteria.map((criterion) => ({ criterion, status: 'PASS' })) };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** An agent that was killed meanwhile reads no answer. */
function tell(fifo: string): void {
  try {
    const fd = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
    writeFileSync(fd, '\n');
    closeSync(fd);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
  }
}
