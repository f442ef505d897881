import type { ZodError, ZodRawShape, ZodType } from 'zod';
import type { StepChange } from '../core/lessons.ts';
import { normalise } from '../core/likeness.ts';
import type { CriterionVerdict, Usage } from '../core/model.ts';

/** What agents answer, read without trust (rules D4, Q3): what does not have the form is no report, and never a success. */
export interface Unusable {
  /** A short sentence that names the field; it becomes the reason of the attempt. */
  readonly unusable: string;
}

export interface DevReport {
  readonly status: 'SUCCESS' | 'FAILED (validation)' | `FAILED (step ${number})`;
  /** Why it failed; absent with `SUCCESS`. */
  readonly reason?: string;
  readonly steps: readonly { readonly step: string; readonly status: string; readonly output?: string }[];
  readonly captured: Readonly<Record<string, string>>;
  readonly selfValidation: readonly CriterionVerdict[];
  readonly recommendations: readonly string[];
  readonly usage: Usage;
  readonly compacted: boolean;
}

export interface QaReport {
  readonly status: 'PASS' | 'FAIL';
  readonly reason?: string;
  /** One for each criterion that was asked, in that order; after them what failed though nobody asked. */
  readonly verdicts: readonly CriterionVerdict[];
  readonly usage: Usage;
}

export interface ManagerReport {
  readonly changes: readonly StepChange[];
  readonly summary: string;
  readonly usage: Usage;
}

/** zod takes 70 ms to load: not when the program starts, but while the first agent works. */
let loading: ReturnType<typeof loadSchemas> | undefined;
const schemas = () => (loading ??= loadSchemas());

/** Somebody is being asked for a report. */
export function expectReport(): void {
  // Who reads one hears of it.
  schemas().catch(() => {});
}

async function loadSchemas() {
  const { z } = await import('zod');
  const or = (wrong: string) => ({
    error: ({ input }: { input?: unknown }) => (input === undefined ? 'is missing' : wrong),
  });
  const text = z.string(or('is not text'));
  const list = <T extends ZodType>(element: T) => z.array(element, or('is not a list'));
  const record = <T extends ZodRawShape>(shape: T) => z.object(shape, or('is not an object'));
  const word = z.union([z.string(), z.number(), z.boolean()], or('is not text')).transform(String);
  const number = z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)], or('is not the number of a step'));
  const passOrFail = text
    .trim()
    .toUpperCase()
    .pipe(z.enum(['PASS', 'FAIL'], or('is neither PASS nor FAIL')));
  const verdict = record({ criterion: word, status: passOrFail, reason: text.nullish() });
  const usage = z.record(z.string(), z.unknown()).catch({}).transform(readUsage);

  const dev = record({
    overall_status: text
      .trim()
      .regex(
        /^(SUCCESS|FAILED \((step \d+|validation)\))$/,
        or('is none of SUCCESS, FAILED (step N), FAILED (validation)'),
      )
      .transform((status) => status as DevReport['status']),
    steps: list(record({ step: word, status: word, output: z.unknown() })).nullish(),
    captured_values: z.preprocess(byName, z.record(z.string(), word.nullable(), or('is not an object')).nullish()),
    self_validation: list(verdict).nullish(),
    recommendations: z.union([z.string(), z.array(z.string())], or('is neither a list of texts nor "None"')).nullish(),
    error: text.nullish(),
    usage,
    compacted: z.boolean(or('is neither true nor false')).nullish(),
    key: text.nullish(),
  });
  const qa = record({ overall_status: passOrFail, criteria: list(verdict).nullish(), summary: text.nullish(), usage });
  const change = z.discriminatedUnion(
    'op',
    [
      record({ op: z.literal('add'), after: number, text }),
      record({ op: z.literal('replace'), step: number, text }),
      record({ op: z.literal('remove'), step: number }),
    ],
    or('is none of add, replace, remove'),
  );
  const manager = record({ changes: list(change), summary: text.nullish(), usage });
  return { dev, qa, manager };
}

/** A report whose `key` is not this item's is about something else, and so is none. */
export async function readDevReport(raw: unknown, expectedKey: string): Promise<DevReport | Unusable> {
  const parsed = (await schemas()).dev.safeParse(raw);
  if (!parsed.success) return unusable(parsed.error);
  const report = parsed.data;
  if (report.key != null && report.key !== expectedKey) return { unusable: 'the key is that of another item' };

  const selfValidation = (report.self_validation ?? []).map(toVerdict);
  const failed = selfValidation.filter(isFail);
  // A dev that saw a criterion fail did not succeed, whatever it says on top.
  const succeeded = report.overall_status === 'SUCCESS' && failed.length === 0;
  const status = report.overall_status === 'SUCCESS' && !succeeded ? 'FAILED (validation)' : report.overall_status;
  return {
    status,
    ...(succeeded ? {} : { reason: report.error?.trim() || reasonsOf(failed) || 'no reason was given' }),
    steps: (report.steps ?? []).map(({ output, ...step }) =>
      output == null ? step : { ...step, output: asText(output) },
    ),
    captured: withoutNulls(report.captured_values ?? {}),
    selfValidation,
    recommendations: [report.recommendations ?? []]
      .flat()
      .map((text) => text.trim())
      .filter((text) => !/^(none\.?)?$/i.test(text)),
    usage: report.usage,
    compacted: report.compacted ?? false,
  };
}

/** `criteria` are the texts that were asked. Each gets a verdict, and one that was not given is a failed one (rule Q3). */
export async function readQaReport(raw: unknown, criteria: readonly string[]): Promise<QaReport | Unusable> {
  const parsed = (await schemas()).qa.safeParse(raw);
  if (!parsed.success) return unusable(parsed.error);
  const { overall_status: overall, summary, usage, criteria: entries } = parsed.data;
  if (entries == null && overall === 'PASS') return { unusable: 'criteria is missing' };

  const given = (entries ?? []).map(toVerdict);
  const verdicts = matchVerdicts(criteria, given);
  const failed = verdicts.filter(isFail);
  if (overall === 'PASS' && failed.length === 0) return { status: 'PASS', verdicts, usage };
  const explained = given.some(isFail) || overall === 'PASS';
  const reason =
    (!explained && summary?.trim()) || reasonsOf(failed) || 'the overall verdict is FAIL, without a reason';
  return { status: 'FAIL', reason, verdicts, usage };
}

export async function readManagerReport(raw: unknown): Promise<ManagerReport | Unusable> {
  const parsed = (await schemas()).manager.safeParse(raw);
  if (!parsed.success) return unusable(parsed.error);
  const { changes, summary, usage } = parsed.data;
  return { changes, summary: summary?.trim() ?? '', usage };
}

/** By the very text, then by text that a model copied loosely, then by position. Of several answers a failed one counts. */
function matchVerdicts(criteria: readonly string[], given: readonly CriterionVerdict[]): CriterionVerdict[] {
  const rules: ((asked: string, verdict: CriterionVerdict, position: number) => boolean)[] = [
    (asked, verdict) => verdict.criterion === asked,
    (asked, verdict) => loosely(verdict.criterion) !== '' && loosely(verdict.criterion) === loosely(asked),
    (_asked, verdict, position) => given.length === criteria.length && given[position] === verdict,
  ];
  const answers = criteria.map((): CriterionVerdict[] => []);
  for (const fits of rules) {
    const free = given.filter((verdict) => !answers.flat().includes(verdict));
    for (const [position, asked] of criteria.entries()) {
      if (answers[position]!.length === 0) answers[position] = free.filter((verdict) => fits(asked, verdict, position));
    }
  }
  const unasked = given.filter((verdict) => isFail(verdict) && !answers.flat().includes(verdict));
  const asked = criteria.map((criterion, position): CriterionVerdict => {
    const verdict = answers[position]!.find(isFail) ?? answers[position]![0];
    return verdict === undefined
      ? { criterion, status: 'FAIL', reason: 'Unable to verify: no verdict was given' }
      : { ...verdict, criterion };
  });
  return [...asked, ...unasked];
}

function loosely(criterion: string): string {
  return normalise(criterion.replace(/^\s*(\d+[.)]|[-*])\s+/, ''));
}

function isFail(verdict: CriterionVerdict): boolean {
  return verdict.status === 'FAIL';
}

function toVerdict(entry: {
  criterion: string;
  status: 'PASS' | 'FAIL';
  reason?: string | null | undefined;
}): CriterionVerdict {
  const { criterion, status } = entry;
  const reason = entry.reason?.trim() || (status === 'FAIL' ? 'no reason was given' : undefined);
  return { criterion, status, ...(reason === undefined ? {} : { reason }) };
}

/** Longer criteria are cut: people read this in one line of a terminal. */
const LONGEST_CRITERION = 100;

function reasonsOf(failed: readonly CriterionVerdict[]): string {
  return failed
    .map(({ criterion, reason }) => {
      const line = criterion.trim().replace(/\s+/g, ' ');
      return `${line.length > LONGEST_CRITERION ? `${line.slice(0, LONGEST_CRITERION - 3)}...` : line}: ${reason}`;
    })
    .join('; ');
}

/** Structured output has no maps: a list of names and values stands for one. */
function byName(values: unknown): unknown {
  const isPair = (each: unknown) => typeof each === 'object' && each !== null && 'name' in each && 'value' in each;
  if (!Array.isArray(values) || !values.every(isPair)) return values;
  return Object.fromEntries(values.map(({ name, value }) => [name, value]));
}

function asText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

function withoutNulls(values: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== null));
}

/** What programs say of their cost has many spellings, and no report is thrown away for it. */
function readUsage(usage: Readonly<Record<string, unknown>>): Usage {
  const amount = (...names: string[]) => names.map((name) => usage[name]).find(isAmount);
  const inputTokens = amount('input_tokens', 'inputTokens');
  const outputTokens = amount('output_tokens', 'outputTokens');
  const costUsd = amount('cost_usd', 'costUsd');
  return {
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function unusable(error: ZodError): Unusable {
  const { path = [], message = 'is not readable' } = error.issues[0] ?? {};
  const field = path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .slice(1);
  return { unusable: `${field === '' ? 'the report' : field} ${message}` };
}
