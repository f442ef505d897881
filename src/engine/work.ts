import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Session } from '../agents/agent.ts';
import { agentEnvironment, itemEnvironment } from '../agents/environment.ts';
import type { CheckResult } from '../checks/checks.ts';
import { formatDuration } from '../core/duration.ts';
import type { Emit, Happening } from '../core/events.ts';
import type { Mask } from '../core/mask.ts';
import type { Criterion, CriterionVerdict, Order } from '../core/model.ts';
import { resolveText } from '../core/template.ts';
import { openMasked } from './masked-transcript.ts';
import { type Agents, type Checks, resolveScript } from './parts.ts';

/** One order while it is carried out: what dev and qa have in common. */
export interface Work {
  readonly order: Order;
  readonly agents: Agents;
  readonly checks: Checks;
  /** Masks secrets before anything leaves. */
  readonly emit: (happening: Happening) => void;
  readonly transcript: Emit;
  readonly mask: Mask;
  /** Aborts when the run stops, the item is withdrawn, or its time is over. */
  readonly signal: AbortSignal;
  /** Aborts when its time is over. */
  readonly limit: AbortSignal;
  /** A private folder for this order, gone when it is finished. */
  readonly scratch: string;
  /** Where the agent and the checks run. */
  readonly folder: string;
}

export function workingFolder(order: Order, agents: Agents): string {
  return resolve(order.shift.root, resolveText(order.workingDir, agents.secrets));
}

/** `working-dir` must be there when the item starts; the reason if it is not. */
export async function missingFolder(work: Work): Promise<string | undefined> {
  const found = await stat(work.folder).catch(() => undefined);
  return found?.isDirectory() ? undefined : `working-dir ${work.folder} does not exist`;
}

export function environmentOf(work: Work, attempt: number): Record<string, string> {
  const { order, agents } = work;
  return agentEnvironment({
    caller: agents.caller,
    passEnv: order.settings.passEnv,
    secrets: agents.secrets,
    own: itemEnvironment(order, attempt, outputFile(work, attempt)),
  });
}

function outputFile(work: Work, attempt: number): string {
  return join(work.scratch, `output-${attempt}`);
}

/** `name=value` lines that the agent appended to NIGHTSHIFT_OUTPUT. A later line of the same name wins. */
export async function readCaptured(work: Work, attempt: number): Promise<Record<string, string>> {
  const text = await readFile(outputFile(work, attempt), 'utf8').catch(() => '');
  const captured: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const equals = line.indexOf('=');
    if (equals > 0) captured[line.slice(0, equals).trim()] = line.slice(equals + 1);
  }
  return captured;
}

export async function openSession(work: Work, attempt: () => number): Promise<Session> {
  const { order, agents } = work;
  const { agent, command, model, tools } = order.settings;
  const subject = { role: order.role, task: order.task, index: order.item.index, item: order.item.id, key: order.key };
  return openMasked(
    work.mask,
    (entry) => work.transcript({ type: 'transcript', ...subject, attempt: attempt(), entry }),
    (transcript) =>
      agents.find(agent)!.open({
        role: order.role,
        folder: work.folder,
        settings: { tools, ...(command === undefined ? {} : { command }), ...(model === undefined ? {} : { model }) },
        signal: work.signal,
        transcript,
      }),
  );
}

/** `final`: a check ran out of its time, so there is no other attempt. */
export type Checked =
  | { readonly kind: 'checked'; readonly verdicts: readonly CriterionVerdict[]; readonly final: boolean }
  | Exclude<CheckResult, { kind: 'passed' | 'failed' }>;

/** The criteria that have a check, judged by running them, each on its own (rules X2, Q3). */
export async function runChecks(work: Work, attempt: number): Promise<Checked> {
  const verdicts: CriterionVerdict[] = [];
  let final = false;
  for (const criterion of work.order.criteria) {
    if (!criterion.check) continue;
    const result = await work.checks.run({
      script: resolveScript(criterion.check, work.agents.secrets),
      folder: work.folder,
      environment: environmentOf(work, attempt),
      timeoutMs: work.order.settings.checkTimeoutMs,
      signal: work.signal,
    });
    if (result.kind === 'aborted' || result.kind === 'trouble') return result;
    const judged = { criterion: criterionText(work, criterion), checked: true };
    if (result.kind === 'passed') verdicts.push({ ...judged, status: 'PASS' });
    else {
      verdicts.push({ ...judged, status: 'FAIL', reason: result.reason });
      final ||= result.final;
    }
  }
  return { kind: 'checked', verdicts, final };
}

export function criterionText(work: Work, criterion: Criterion): string {
  return resolveText(criterion.text, work.agents.secrets);
}

/** The failed criteria as one reason for `status` and `show`. */
export function describeFailures(verdicts: readonly CriterionVerdict[]): string {
  return verdicts
    .filter((each) => each.status === 'FAIL')
    .map(({ criterion, reason }) => (reason ? `${firstLine(criterion)}: ${reason}` : firstLine(criterion)))
    .join('; ');
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]!.trim();
}

export function timeoutReason(work: Work): string {
  return `timed out after ${formatDuration(work.order.settings.timeoutMs)}`;
}
