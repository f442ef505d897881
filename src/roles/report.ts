import { createRequire } from 'node:module';
import type { ZodError, ZodRawShape, ZodType } from 'zod';
import type { StepChange } from '../core/learning/lessons.ts';
import { type CriterionVerdict, LONGEST_REASON } from '../core/model/model.ts';
import { normalise } from '../core/text/likeness.ts';
import type { Mask } from '../core/text/mask.ts';
import { shorten } from '../core/text/shorten.ts';

/** What agents answer, read without trust (rules D4, Q3): what does not have the form is no report, and never a success. */
export interface Unusable {
  /** A short sentence that names the field; it becomes the reason of the attempt. */
  readonly unusable: string;
}

/** However many entries a list in a report has, so many are kept. */
const MOST_ENTRIES = 100;

export interface DevReport {
  readonly status: 'SUCCESS' | 'FAILED (validation)' | `FAILED (step ${number})`;
  /** Why it failed; absent with `SUCCESS`. */
  readonly reason?: string;
  readonly steps: readonly { readonly step: string; readonly status: string; readonly output?: string }[];
  readonly captured: Readonly<Record<string, string>>;
  readonly selfValidation: readonly CriterionVerdict[];
  readonly recommendations: readonly string[];
  readonly compacted: boolean;
}

export interface QaReport {
  readonly status: 'PASS' | 'FAIL';
  readonly reason?: string;
  /** One for each criterion that was asked, in that order; after them what failed though nobody asked. */
  readonly verdicts: readonly CriterionVerdict[];
}

export interface ManagerReport {
  readonly changes: readonly StepChange[];
  readonly summary: string;
}

/** zod takes 70 ms to load: not when the program starts, but while the first agent works. */
let loading: ReturnType<typeof loadSchemas> | undefined;
const schemas = () =>
  (loading ??= loadSchemas().catch((error: unknown) => {
    loading = undefined;
    throw error;
  }));

/** Somebody is being asked for a report. */
export function expectReport(): void {
  // Who reads one hears of it.
  schemas().catch(() => {});
}

async function loadSchemas() {
  // Not by `import`, which opens all of its files at once: descriptors may be scarce.
  const { z } = createRequire(import.meta.url)('zod') as typeof import('zod');
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

  const dev = record({
    overall_status: text
      .trim()
      .regex(
        /^(SUCCESS|FAILED \((step \d+|validation)\))$/,
        or('is none of SUCCESS, FAILED (step N), FAILED (validation)'),
      )
      .transform((status) => status as DevReport['status']),
    steps: list(record({ step: word, status: word, output: z.unknown() })).nullish(),
    captured_values: z
      .unknown()
      .optional()
      .transform((values, context) => {
        const read = readCaptured(values);
        if (Array.isArray(read)) return read;
        context.addIssue({ code: 'custom', ...read });
        return z.NEVER;
      }),
    self_validation: list(verdict).nullish(),
    recommendations: z.union([z.string(), z.array(z.string())], or('is neither a list of texts nor "None"')).nullish(),
    error: text.nullish(),
    compacted: z.boolean(or('is neither true nor false')).nullish(),
    key: text.nullish(),
  });
  const qa = record({ overall_status: passOrFail, criteria: list(verdict).nullish(), summary: text.nullish() });
  const step = text.max(LONGEST_REASON, `is longer than ${LONGEST_REASON} characters`);
  const change = z.discriminatedUnion(
    'op',
    [
      record({ op: z.literal('add'), after: number, text: step }),
      record({ op: z.literal('replace'), step: number, text: step }),
      record({ op: z.literal('remove'), step: number }),
    ],
    or('is none of add, replace, remove'),
  );
  const manager = record({
    changes: list(change).max(MOST_ENTRIES, 'has too many entries'),
    summary: text.nullish(),
  });
  return { dev, qa, manager };
}

/** Texts are masked, then cut. A report whose `key` is not this item's is about something else, and so is none. */
export async function readDevReport(raw: unknown, expectedKey: string, mask: Mask): Promise<DevReport | Unusable> {
  const parsed = (await schemas()).dev.safeParse(raw);
  if (!parsed.success) return unusable(parsed.error);
  const report = parsed.data;
  if (report.key != null && report.key !== expectedKey) return { unusable: 'the key is that of another item' };

  const said = sayer(mask);
  const selfValidation = someVerdicts(report.self_validation).map((entry) => toVerdict(entry, said));
  const failed = selfValidation.filter(isFail);
  // A dev that saw a criterion fail did not succeed, whatever it says on top.
  const succeeded = report.overall_status === 'SUCCESS' && failed.length === 0;
  const status = report.overall_status === 'SUCCESS' && !succeeded ? 'FAILED (validation)' : report.overall_status;
  return {
    status,
    ...(succeeded ? {} : { reason: said(report.error ?? '') || reasonsOf(failed) || 'no reason was given' }),
    steps: some(report.steps).map(({ step, status, output }) => ({
      step: said(step),
      status: said(status),
      ...(output == null ? {} : { output: said(asText(output)) }),
    })),
    captured: Object.fromEntries(report.captured_values),
    selfValidation,
    recommendations: some([report.recommendations ?? []].flat())
      .map(said)
      .filter((text) => !/^(none\.?)?$/i.test(text)),
    compacted: report.compacted ?? false,
  };
}

/** `criteria` are the texts that were asked. Each gets a verdict, and one that was not given is a failed one (rule Q3). */
export async function readQaReport(
  raw: unknown,
  criteria: readonly string[],
  mask: Mask,
): Promise<QaReport | Unusable> {
  const parsed = (await schemas()).qa.safeParse(raw);
  if (!parsed.success) return unusable(parsed.error);
  const { overall_status: overall, summary, criteria: entries } = parsed.data;
  if (entries == null && overall === 'PASS') return { unusable: 'criteria is missing' };

  const said = sayer(mask);
  const given = someVerdicts(entries, Math.max(MOST_ENTRIES, criteria.length)).map((entry) => toVerdict(entry, said));
  const verdicts = matchVerdicts(criteria.map(said), given);
  const failed = verdicts.filter(isFail);
  if (overall === 'PASS' && failed.length === 0) return { status: 'PASS', verdicts };
  const explained = given.some(isFail) || overall === 'PASS';
  const reason =
    (!explained && said(summary ?? '')) || reasonsOf(failed) || 'the overall verdict is FAIL, without a reason';
  return { status: 'FAIL', reason, verdicts };
}

export async function readManagerReport(raw: unknown): Promise<ManagerReport | Unusable> {
  const parsed = (await schemas()).manager.safeParse(raw);
  if (!parsed.success) return unusable(parsed.error);
  const { changes, summary } = parsed.data;
  return { changes, summary: shorten(summary?.trim() ?? '', LONGEST_REASON) };
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

function toVerdict(
  entry: { criterion: string; status: 'PASS' | 'FAIL'; reason?: string | null | undefined },
  said: (text: string) => string,
): CriterionVerdict {
  const { criterion, status } = entry;
  const reason = said(entry.reason ?? '') || (status === 'FAIL' ? 'no reason was given' : undefined);
  return { criterion: said(criterion), status, ...(reason === undefined ? {} : { reason }) };
}

function sayer(mask: Mask): (text: string) => string {
  return (text) => shorten(mask.text(text).trim(), LONGEST_REASON);
}

function some<T>(entries: readonly T[] | null | undefined): readonly T[] {
  return (entries ?? []).slice(0, MOST_ENTRIES);
}

/** Of too many, the failed ones first: what is left out must not turn a failure into a success. */
function someVerdicts<T extends { readonly status: 'PASS' | 'FAIL' }>(
  entries: readonly T[] | null | undefined,
  most = MOST_ENTRIES,
): readonly T[] {
  if ((entries?.length ?? 0) <= most) return entries ?? [];
  const byStatus = (status: string) => entries!.filter((entry) => entry.status === status);
  return [...byStatus('FAIL'), ...byStatus('PASS')].slice(0, most);
}

/** Longer criteria are cut: people read this in one line of a terminal. */
const LONGEST_CRITERION = 100;

function reasonsOf(failed: readonly CriterionVerdict[]): string {
  const all = failed
    .map(({ criterion, reason }) => {
      const line = criterion.trim().replace(/\s+/g, ' ');
      return `${line.length > LONGEST_CRITERION ? `${line.slice(0, LONGEST_CRITERION - 3)}...` : line}: ${reason}`;
    })
    .join('; ');
  return shorten(all, LONGEST_REASON);
}

/**
 * Names and values; or what is wrong. Structured output has no maps: there a list of names and values stands for one. By
 * hand, since zod leaves out the name `__proto__`.
 */
function readCaptured(values: unknown): [string, string][] | { path: string[]; message: string } {
  if (values == null) return [];
  if (typeof values !== 'object') return { path: [], message: 'is not an object' };
  const entries = isListOfPairs(values)
    ? values.map(({ name, value }): [string, unknown] => [String(name), value])
    : Object.entries(values);
  if (Array.isArray(values) && !isListOfPairs(values)) return { path: [], message: 'is not an object' };
  const wrong = entries.find(([, value]) => value !== null && typeof value === 'object');
  if (wrong) return { path: [wrong[0]], message: 'is not text' };
  return entries.flatMap(([name, value]): [string, string][] => (value == null ? [] : [[name, String(value)]]));
}

function isListOfPairs(values: object): values is { name: unknown; value: unknown }[] {
  const isPair = (each: unknown) => typeof each === 'object' && each !== null && 'name' in each && 'value' in each;
  return Array.isArray(values) && values.every(isPair);
}

function asText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

function unusable(error: ZodError): Unusable {
  const { path = [], message = 'is not readable' } = error.issues[0] ?? {};
  const field = path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .slice(1);
  return { unusable: `${field === '' ? 'the report' : field} ${message}` };
}
