import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Totals, totalsOf } from './events.ts';

/** What `--json` omits and the session file of Codex has. */
export interface SessionFile {
  readonly compactions: number;
  /** Also of turns that failed or were ended. */
  readonly totals: Totals | undefined;
  /** The type of the error that ended the last turn. */
  readonly errorType: unknown;
}

/** Undefined if there is no such file: then only the output is known. */
export async function readSessionFile(
  environment: Readonly<Record<string, string>>,
  threadId: string,
): Promise<SessionFile | undefined> {
  const file = await fileOf(environment, threadId);
  const text = file === undefined ? undefined : await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : readLines(text);
}

export async function removeSessionFile(
  environment: Readonly<Record<string, string>>,
  threadId: string,
): Promise<void> {
  const file = await fileOf(environment, threadId);
  if (file !== undefined) await rm(file, { force: true }).catch(() => {});
}

function fileOf(environment: Readonly<Record<string, string>>, threadId: string): Promise<string | undefined> {
  return findFile(join(codexHome(environment), 'sessions'), threadId);
}

export function codexHome({ CODEX_HOME, HOME }: Readonly<Record<string, string>>): string {
  return CODEX_HOME ?? join(HOME ?? '/', '.codex');
}

const DAY_MS = 86_400_000;

/** `YYYY/MM/DD/rollout-TIME-ID.jsonl`. The id begins with its time, but in another time zone than the folder. */
async function findFile(sessions: string, threadId: string): Promise<string | undefined> {
  const made = Number.parseInt(threadId.replaceAll('-', '').slice(0, 12), 16);
  for (const time of [made, made - DAY_MS, made + DAY_MS]) {
    if (Number.isNaN(time)) return undefined;
    const folder = join(sessions, ...new Date(time).toISOString().slice(0, 10).split('-'));
    const names = await readdir(folder).catch(() => []);
    const name = names.find((each) => each.endsWith(`-${threadId}.jsonl`));
    if (name !== undefined) return join(folder, name);
  }
  return undefined;
}

/** Only three kinds of lines matter; the others are not parsed. */
function readLines(text: string): SessionFile {
  let compactions = 0;
  let totals: Totals | undefined;
  let errorType: unknown;
  for (const line of text.split('\n')) {
    const [, type, inner] = /^\{[^{}]*?"type":"(\w+)","payload":\{(?:"type":"(\w+)")?/.exec(line) ?? [];
    if (type === 'compacted') compactions++;
    if (inner !== 'token_count' && inner !== 'task_complete') continue;
    const { payload } = parse(line);
    // One without a sum only has the account's quota.
    const used = payload?.type === 'token_count' ? payload.info?.total_token_usage : undefined;
    if (used) totals = totalsOf(used);
    if (payload?.type === 'task_complete') errorType = payload.error?.codex_error_info;
  }
  return { compactions, totals, errorType };
}

interface Line {
  readonly payload?: {
    readonly type?: string;
    readonly info?: {
      readonly total_token_usage?: { readonly input_tokens?: number; readonly output_tokens?: number };
    } | null;
    readonly error?: { readonly codex_error_info?: unknown } | null;
  };
}

/** The last line of a program that was killed may be torn. */
function parse(line: string): Line {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return {};
  }
}
