import { z } from 'zod';
import { NightshiftError } from '../core/model/errors.ts';
import type { ActRequest } from '../core/page/action.ts';
import { PLAIN_SORTS, ROW_FILTERS } from '../core/page/row-query.ts';

const text = z.string();
const task = text.optional();
const maxCost = text.optional();

const query = z.strictObject({
  status: z.array(z.enum(ROW_FILTERS)),
  task,
  group: text.optional(),
  search: text.optional(),
  sort: z
    .union([z.strictObject({ by: z.enum(PLAIN_SORTS) }), z.strictObject({ by: z.literal('column'), column: text })])
    .optional(),
  isDescending: z.boolean(),
  columns: z.array(text),
});

const rows = z.union([z.strictObject({ items: z.array(text).min(1) }), z.strictObject({ matching: query })]);

const action = z.discriminatedUnion('verb', [
  z.strictObject({ verb: z.enum(['pause', 'stop']), now: z.boolean().optional() }),
  z.strictObject({ verb: z.literal('resume') }),
  z.strictObject({ verb: z.literal('start'), maxCost }),
  z.strictObject({ verb: z.literal('retry'), rows: rows.optional(), task, maxCost }),
  z.strictObject({ verb: z.enum(['reset', 'withdraw']), rows, task }),
  z.strictObject({ verb: z.literal('edit'), item: text, column: text, was: text, value: text }),
  z.strictObject({
    verb: z.literal('lesson'),
    decision: z.enum(['accept', 'reject', 'pin', 'ban', 'undo']),
    ids: z.array(text).min(1),
  }),
  z.strictObject({ verb: z.literal('restore'), task: text, version: z.int().min(0) }),
  z.strictObject({ verb: z.literal('deliver'), rows }),
]);

const request = z.strictObject({ shift: text, action, isDry: z.boolean().optional() });

/** The body of `POST /api/act`. A key that it does not know is an error: it might have narrowed what is done. */
export function readActRequest(body: unknown): ActRequest {
  const { data, error } = request.safeParse(body);
  if (data) return data as ActRequest;
  const { path, message } = error.issues[0]!;
  throw new NightshiftError('usage', `the request is wrong at ${path.join('.') || 'its top'}: ${message}`);
}
