import { constants, lstatSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { agentEnvironment, itemEnvironment, variablesToTell } from '../../agents/environment.ts';
import { resolveText } from '../../core/language/template.ts';
import { formatDuration } from '../../core/model/duration.ts';
import type { Happening } from '../../core/model/events.ts';
import { LARGEST_CELL, type LocalOrder, type Trouble } from '../../core/model/model.ts';
import { isTransient } from '../../core/model/system-errors.ts';
import type { Mask } from '../../core/text/mask.ts';
import { shorten } from '../../core/text/shorten.ts';
import type { OpenWorkspace } from '../../core/workspace/workspaces.ts';
import { sandboxOf } from './confinement.ts';
import { Conversation } from './conversation.ts';
import type { Scratch } from './scratch.ts';
import { Transcript } from './transcript.ts';
import type { Call, EquippedSite } from './worker-ports.ts';
import type { Workplace } from './workplace.ts';

/** Room for a few full cells; the rest of an agent's output file is not read. */
const MOST_CAPTURED = 4 * LARGEST_CELL;

/** For captured values that are not outputs. */
const MOST_OTHERS = 50;
const LONGEST_NAME = 100;
const LONGEST_VALUE = 1000;

/** One order in progress: what dev and qa have in common. */
export interface Work {
  readonly order: LocalOrder;
  readonly site: EquippedSite;
  readonly call: Call;
  /** Masks secrets before anything leaves. */
  readonly emit: (happening: Happening) => void;
  readonly mask: Mask;
  /** Aborts when the run stops, the item is withdrawn, or its time is up. */
  readonly signal: AbortSignal;
  /** Aborts when its time is over. */
  readonly timeout: AbortSignal;
  readonly scratch: Scratch;
  readonly workplace: Workplace;
  /** Its workplace is kept: a qa may send the item back to its dev. */
  keep(): void;
  /** Where the agent and the checks run. */
  readonly folder: string;
  /** The row's own, if it has one and the order has entered it. */
  readonly workspace?: OpenWorkspace;
}

export function workingFolder(order: LocalOrder, secrets: EquippedSite['secrets']): string {
  return resolve(order.shift.root, resolveText(order.workingDir, secrets));
}

/**
 * Returns why, if an attempt changed files that only Nightshift writes, or that `protect:` names (rule D5), or
 * something outside of its workspace (rule W11).
 */
export async function trespassOf(work: Work, calls: readonly string[]): Promise<string | undefined> {
  const { site, order, workspace } = work;
  const own = await site.shiftFiles?.trespassOf(order.token, calls);
  const outside = await workspace?.trespassOf(calls);
  return own ?? outside ?? (await site.protection.trespassOf(order.token, calls));
}

function found(stat: () => Stats): Stats | undefined {
  try {
    return stat();
  } catch {
    return undefined;
  }
}

/** For the agent: checks don't get the credentials of its program. */
export function agentEnvironmentOf(work: Work, attempt: number): Record<string, string> {
  return environmentOf(work, attempt, work.site.agents.find(work.order.settings.agent)!.credentials);
}

export function environmentOf(
  work: Work,
  attempt: number,
  credentials: readonly string[] = [],
): Record<string, string> {
  const { order, site } = work;
  return agentEnvironment({
    caller: site.agents.caller,
    passEnv: [...credentials, ...order.settings.passEnv],
    secrets: site.secrets,
    own: ownEnvironment(work, attempt),
    isInWorkspace: order.workspace !== undefined,
  });
}

function ownEnvironment(work: Work, attempt: number): Record<string, string> {
  return {
    ...itemEnvironment(work.order, attempt, work.scratch.outputFile(attempt)),
    ...work.workspace?.environment,
  };
}

export function toldVariables(work: Work, attempt: number): { variables?: Record<string, string> } {
  const { agent, tools } = work.order.settings;
  return variablesToTell(work.site.agents.find(agent), tools, ownEnvironment(work, attempt));
}

/** `name=value` lines that the agent appended to NIGHTSHIFT_OUTPUT. The last value of a name wins. */
export async function readCaptured(work: Work, attempt: number): Promise<Record<string, string>> {
  const text = await readOwned(work.scratch.outputFile(attempt));
  const captured = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const equals = line.indexOf('=');
    if (equals > 0) captured.set(line.slice(0, equals).trim(), line.slice(equals + 1));
  }
  return Object.fromEntries(captured);
}

/**
 * Declared outputs are kept whole, because they are checked and written to the table; the others are cut for the
 * history.
 */
export function boundCaptured(work: Work, captured: Readonly<Record<string, string>>): Record<string, string> {
  const { outputs } = work.order.settings;
  const others = Object.entries(captured)
    .filter(([name]) => !outputs.includes(name))
    .slice(0, MOST_OTHERS)
    .map(([name, value]) => [shorten(work.mask.text(name), LONGEST_NAME), work.mask.text(value)] as const);
  const declared = outputs.flatMap((name) => (Object.hasOwn(captured, name) ? [[name, captured[name]!] as const] : []));
  return { ...shortened(Object.fromEntries(others)), ...Object.fromEntries(declared) };
}

/** For the journal: the table has the whole output. */
export function shortened(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shorten(value, LONGEST_VALUE)]));
}

/** The agent may have replaced the file with anything: a pipe would block forever, and it may have any size. */
async function readOwned(file: string): Promise<string> {
  if (!found(() => lstatSync(file))?.isFile()) return '';
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(file, flags).catch((error: unknown) => {
    // If the error passes, the file may have content that must not be ignored.
    if (isTransient(error)) throw error;
    return undefined;
  });
  if (!handle) return '';
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size === 0) return '';
    const bytes = Buffer.alloc(Math.min(stats.size, MOST_CAPTURED));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Opens a conversation with the agent of the order; it is written to the transcript. */
export function converse(work: Work, attempt: () => number): Conversation {
  const { order, site } = work;
  return new Conversation(
    site.agents.find(order.settings.agent)!,
    {
      role: order.role,
      folder: work.folder,
      scratch: work.scratch.folder,
      shiftFolder: order.shift.folder,
      settings: order.settings,
      mask: work.mask,
      signal: work.signal,
      ...sandboxOf(work),
    },
    transcriptOf(work, attempt),
    work.call.spent,
  );
}

export function transcriptOf(work: Work, attempt: () => number): Transcript {
  const { role, task, item, key, settings } = work.order;
  return new Transcript(work.call.emit, work.mask, () => ({
    role,
    task,
    index: item.index,
    item: item.id,
    attempt: attempt(),
    key,
    agent: settings.agent,
  }));
}

/** The failure point, for an item that was given back too often. */
export const GIVEN_BACK = 'given back';

/** Rule X5: why trouble fails this item after all, if it does. */
export function lastChanceMissed({ order }: Work, { reason, isRequested }: Trouble): string | undefined {
  if (!isRequested || !order.isLastChance) return undefined;
  return `given back three times while other items were done: ${reason}`;
}

export function timeoutReason(work: Work): string {
  return `timed out after ${formatDuration(work.order.settings.timeoutMs)}`;
}
