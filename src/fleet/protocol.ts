import { z } from 'zod';
import type { LessonOrder, LessonOutcome } from '../core/model/lesson-order.ts';
import type { Order, Outcome } from '../core/model/model.ts';
import { devOutputs, whyNoCell } from '../core/workspace/outputs.ts';

/** A coordinator and a worker must have the same number. Raise it when the form of orders or outcomes changes. */
export const PROTOCOL = 1;

/** The maximum size of an order or an outcome, in bytes: room for a few full cells. */
export const LARGEST_MESSAGE = 4 * 1024 * 1024;

/** Where everyone listens. A notice only saves time: everyone also polls. */
export const CHANNEL = 'nightshift';

/** The channel of one coordinator. It is separate so that lines and ends of orders don't wake every worker. */
export function channelOf(shiftKey: string): string {
  return `${CHANNEL}-${shiftKey}`;
}

/** Where a coordinator listens. */
export function channelsOf(shiftKey: string): string[] {
  return [CHANNEL, channelOf(shiftKey)];
}

/**
 * `ready`: an order waits in this queue. `cancel`: this order is to be ended. `ended`: an order of this shift has ended,
 * or has lines. `changed`: a shift or a worker has another mode.
 */
export type NoticeKind = 'ready' | 'cancel' | 'ended' | 'changed';

/** What a worker carries out: of an item, or of the manager's question about lessons. */
export type Work =
  | { readonly kind: 'item'; readonly order: Order }
  | { readonly kind: 'lesson'; readonly order: LessonOrder };

export type WorkOutcome = Outcome | LessonOutcome;

/** An order as it is sent, once: an item that is sent again gets a new order with a new id. */
export interface SentOrder {
  readonly protocol: number;
  readonly id: string;
  /** `key`: the same for the shift wherever its folder is; `name`: for people. */
  readonly shift: { readonly key: string; readonly name: string };
  readonly needs: readonly string[];
  /** The hash of the bundle with the files of the shift's folder. Absent: the order uses none of them. */
  readonly files?: string;
  readonly work: Work;
}

/** What the database holds of an order. The signature covers the bytes of `body`. */
export interface Envelope {
  readonly body: string;
  readonly signature: string;
}

const envelope = z.looseObject({ body: z.string(), signature: z.string() });

const settings = z.looseObject({ agent: z.string(), timeoutMs: z.number() });

const work = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('item'),
    order: z.looseObject({
      task: z.string(),
      role: z.enum(['dev', 'qa']),
      token: z.string(),
      item: z.looseObject({ id: z.string(), index: z.number() }),
      settings,
    }),
  }),
  z.looseObject({
    kind: z.literal('lesson'),
    order: z.looseObject({ task: z.string(), role: z.literal('manager'), settings }),
  }),
]);

const sentOrder = z.looseObject({
  protocol: z.number(),
  id: z.string(),
  shift: z.looseObject({ key: z.string(), name: z.string() }),
  needs: z.array(z.string()),
  files: z.string().optional(),
  work,
});

/** Undefined if the data of a job is no envelope. */
export function readEnvelope(data: unknown): Envelope | undefined {
  const { success, data: read } = envelope.safeParse(data);
  return success ? read : undefined;
}

/** Only for a body whose signature was verified: most of its inner parts are not checked. Undefined if it is no order. */
export function readSentOrder(body: string): SentOrder | undefined {
  try {
    const json: unknown = JSON.parse(body);
    // Return the parsed JSON, not zod's copy: zod reorders fields, and adoption compares orders as text.
    return sentOrder.safeParse(json).success ? (json as SentOrder) : undefined;
  } catch {
    return undefined;
  }
}

const texts = z.record(z.string(), z.string());

/** No order spends more. Without a bound, a sum could become Infinity. */
const amount = z.number().nonnegative().max(1e12).optional();

/** Negative amounts would undo what was spent. */
export const usageForm = z.object({
  inputTokens: amount,
  outputTokens: amount,
  costUsd: amount,
  unpricedTokens: amount,
  unreadCosts: amount,
});

/** Of a Date, in milliseconds. */
const LATEST_TIME = 8.64e15;

const outcome = z.looseObject({
  role: z.enum(['dev', 'qa']),
  to: z.enum(['qa', 'done', 'failed']).optional(),
  attempts: z.number().int().nonnegative(),
  ms: z.number().optional(),
  isVerdict: z.literal(true).optional(),
  reason: z.string().optional(),
  failurePoint: z.string().optional(),
  trouble: z
    .looseObject({ reason: z.string(), remedy: z.string().optional(), until: z.number().max(LATEST_TIME).optional() })
    .optional(),
  verdicts: z.array(z.looseObject({ criterion: z.string(), status: z.enum(['PASS', 'FAIL']) })),
  outputs: texts,
  captured: texts,
  recommendations: z.array(z.string()),
  usage: usageForm,
  compacted: z.boolean(),
});

const lessonOutcome = z.union([
  z.looseObject({ role: z.literal('manager'), reason: z.string() }),
  z.looseObject({ role: z.literal('manager'), proposal: z.looseObject({}) }),
]);

/** What a worker reports at the end of an order. */
export interface Report {
  readonly worker: string;
  /** The number of its last line: all of them are in the database before the report is. */
  readonly lines: number;
  readonly outcome: WorkOutcome;
}

const report = z.looseObject({
  worker: z.string(),
  lines: z.number().int().nonnegative(),
  outcome: z.union([outcome, lessonOutcome]),
});

/** Undefined if it does not have the form of a report on this work. */
export function readReport(data: unknown, { kind, order }: Work): Report | undefined {
  const { success, data: read } = report.safeParse(data);
  if (!success || (read.outcome.role === 'manager') !== (kind === 'lesson')) return undefined;
  if (kind === 'lesson') return read as unknown as Report;
  const { role, item, token } = order;
  if (read.outcome.role !== role) return undefined;
  const ends = [undefined, 'failed', role === 'dev' ? 'qa' : 'done'];
  if (!ends.includes(read.outcome.to)) return undefined;
  const outputs = read.outcome.to === 'qa' ? outputsIn(read.outcome.outputs, order) : {};
  if (!outputs) return undefined;
  // An adopted order has the token of an earlier claim; what a worker says about it does not count.
  return { ...read, outcome: { ...read.outcome, outputs, id: item.id, token } } as unknown as Report;
}

/** Only what the task declares: other columns are not the worker's. Undefined if one is missing, or is no cell. */
function outputsIn(reported: Readonly<Record<string, string>>, order: Order): Record<string, string> | undefined {
  const declared = devOutputs(order).map((name) => [name, reported[name]] as const);
  const isUsable = declared.every(([, value]) => value !== undefined && whyNoCell(value) === undefined);
  return isUsable ? (Object.fromEntries(declared) as Record<string, string>) : undefined;
}

/** A worker's answer to an order that it does not carry out: it is not what the coordinator signed. */
export interface Refusal {
  readonly worker: string;
  readonly refused: string;
}

const refusal = z.looseObject({ worker: z.string(), refused: z.string() });

export function readRefusal(data: unknown): Refusal | undefined {
  const { success, data: read } = refusal.safeParse(data);
  return success ? read : undefined;
}
