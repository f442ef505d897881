import { z } from 'zod';
import type { Happening, TranscriptHappening } from '../core/model/events.ts';
import type { Role } from '../core/model/model.ts';
import { usageForm, type Work } from './protocol.ts';

type WorkerEvent = Happening | TranscriptHappening;

/** A numbered event or line of a transcript, as a worker sends it. */
export interface Line {
  readonly n: number;
  readonly what: WorkerEvent;
}

/** What the coordinator itself knows about an order: a worker can't speak for another one. */
export interface Origin {
  readonly role: Role;
  readonly key: string;
  readonly agent: string;
  readonly subject: { readonly task: string; readonly index?: number; readonly item?: string };
}

/** These count even after the run has stopped following the order: spending, and refused late results. */
const ALWAYS = ['usage:spent', 'result:refused'] as const;
const OF_ALL = [...ALWAYS, 'run:warning', 'transcript'] as const;
const OF_DEV = ['dev:started', 'workspace:opened', 'attempt:finished', 'dev:finished'] as const;
const OF_QA = ['qa:started', 'verdict:voided', 'qa:finished'] as const;
const BY_ROLE: Readonly<Record<Role, readonly LineType[]>> = {
  dev: [...OF_ALL, ...OF_DEV],
  qa: [...OF_ALL, ...OF_QA],
  manager: OF_ALL,
};

/** Types of events that the work on an order has. A worker can't report anything else. */
const TYPES = [...OF_ALL, ...OF_DEV, ...OF_QA] as const;
type LineType = (typeof TYPES)[number];

/** Fields that a worker must not set: the coordinator fills them in. In a run, `usage:spent` has no `ms`. */
type CoordinatorField<T> =
  | 'type'
  | 'role'
  | 'key'
  | 'task'
  | 'index'
  | 'item'
  | 'label'
  | 'attempt'
  | 'worker'
  | 'order'
  | 'n'
  | (T extends 'usage:spent' ? 'ms' : never);
type Field<T extends LineType> = Exclude<keyof Extract<WorkerEvent, { type: T }>, CoordinatorField<T>>;

const text = z.string();
const whole = z.number().int().nonnegative();
const ms = z.number().nonnegative();
const agent = text;
const reason = text.optional();
const failurePoint = text.optional();
const model = text.optional();
const usage = usageForm.optional();
const votes = z.array(z.object({ lesson: text, effect: z.enum(['helped', 'harmed']), reason: text })).optional();
const verdict = z.object({
  criterion: text,
  status: z.enum(['PASS', 'FAIL']),
  reason,
  checked: z.boolean().optional(),
});
const entry = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['prompt', 'text', 'output', 'error', 'note']), text }),
  z.object({ kind: z.literal('tool-call'), tool: text, text, mayWrite: z.boolean() }),
  z.object({ kind: z.literal('tool-result'), tool: text, text, isError: z.boolean() }),
  z.object({ kind: z.literal('usage'), usage: usageForm }),
]);

/** Each field that an event of this type has. Others are dropped. */
const SHAPES: { readonly [T in LineType]: Record<Field<T>, z.ZodType> } = {
  'dev:started': { agent, version: text, maxAttempts: whole.optional(), isHeldOut: z.literal(true).optional() },
  'workspace:opened': { folder: text, branch: text, base: text.optional(), after: text.optional(), ms },
  'attempt:finished': { status: text, reason, maxAttempts: whole.optional(), waitMs: ms.optional(), votes },
  'dev:finished': {
    ...{ status: text, attempts: whole, ms, reason, failurePoint, usage, agent: agent.optional(), model },
    captured: z.record(text, text).optional(),
    recommendations: z.array(text).optional(),
    compacted: z.boolean().optional(),
  },
  'qa:started': { agent },
  'verdict:voided': { reason: text, changed: z.array(text) },
  'qa:finished': {
    ...{ status: z.enum(['PASS', 'FAIL', 'NONE']), ms, reason, failurePoint, usage, model, votes },
    verdicts: z.array(verdict),
  },
  'usage:spent': { agent, usage: usageForm },
  'result:refused': { reason: text },
  'run:warning': { message: text },
  transcript: { entry },
};

const FORMS = new Map<LineType, z.ZodObject>(
  TYPES.map((type) => [type, z.object({ ...SHAPES[type], attempt: whole.optional() })]),
);

/** For an unknown order, the role is what its worker reports: nothing depends on it. */
const FORMS_OF_UNKNOWN = new Map<LineType, z.ZodObject>([
  ['usage:spent', z.object({ ...SHAPES['usage:spent'], role: z.enum(['dev', 'qa', 'manager']) })],
  ['result:refused', z.object(SHAPES['result:refused'])],
]);

const WITH_ROLE: readonly LineType[] = ['usage:spent', 'transcript'];
const WITH_KEY: readonly LineType[] = ['dev:started', 'dev:finished', 'qa:started', 'qa:finished', 'transcript'];

const numbered = z.object({
  n: z
    .number()
    .int()
    .positive()
    .max(2 ** 31 - 1),
  what: z.looseObject({ type: z.enum(TYPES) }),
});

/** A line whose fields are not checked. */
export type NumberedLine = z.infer<typeof numbered>;

/** Undefined if it does not have the form of a line. */
export function readLine(data: unknown): NumberedLine | undefined {
  const { success, data: read } = numbered.safeParse(data);
  return success ? read : undefined;
}

export function countsAlways({ what }: NumberedLine): boolean {
  return ALWAYS.some((type) => type === what.type);
}

/** The event of a line about this order. Undefined if it is malformed, or not one that such an order has. */
export function eventOf({ what }: NumberedLine, origin: Origin | undefined): WorkerEvent | undefined {
  const { type } = what;
  if (origin && !BY_ROLE[origin.role].includes(type)) return undefined;
  const form = (origin ? FORMS : FORMS_OF_UNKNOWN).get(type);
  const { success, data } = form?.safeParse(what) ?? { success: false };
  if (!success) return undefined;
  const own = origin && {
    ...(WITH_ROLE.includes(type) && { role: origin.role }),
    ...(WITH_KEY.includes(type) && { key: origin.key }),
    ...origin.subject,
  };
  return { type, ...data, ...own } as unknown as WorkerEvent;
}

export function originOf({ kind, order }: Work): Origin {
  const { role, task, settings } = order;
  if (kind === 'lesson') return { role, key: order.version, agent: settings.agent, subject: { task } };
  return {
    role,
    key: order.key,
    agent: settings.agent,
    subject: { task, index: order.item.index, item: order.item.id },
  };
}
