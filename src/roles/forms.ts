import { createRequire } from 'node:module';
import type { ZodError, ZodRawShape, ZodType } from 'zod';
import { LONGEST_REASON, type Role } from '../core/model/model.ts';

/**
 * The form of each report, defined once with zod. From it come the JSON Schema for programs with structured output, the
 * form that prompts show, and the reader. The reader takes more than the form asks for: models are careless, and a
 * report is not refused for what can be read without doubt.
 */

/** Of a longer list in a report, only this many entries are kept. */
export const MOST_ENTRIES = 100;

type Forms = ReturnType<typeof makeForms>;
let made: Forms | undefined;

/** zod takes 70 ms to load, so it is loaded with the first prompt or report and not when the program starts. */
export function forms(): Forms {
  // Not with `import`, which opens all of its files at once: descriptors may be scarce.
  made ??= makeForms((createRequire(import.meta.url)('zod') as typeof import('zod')).z);
  return made;
}

function makeForms(z: typeof import('zod').z) {
  const or = (wrong: string) => ({
    error: ({ input }: { input?: unknown }) => (input === undefined ? 'is missing' : wrong),
  });
  const record = <T extends ZodRawShape>(shape: T) => z.object(shape, or('is not an object'));
  const list = <T extends ZodType>(element: T) =>
    z.preprocess((value) => value ?? [], z.array(element, or('is not a list')));
  const text = z.string(or('is not text'));
  const optionalText = z.preprocess((value) => value ?? '', text);
  const word = z.preprocess((value) => (isPlain(value) ? String(value) : value), text);
  const passOrFail = z.preprocess(
    (value) => (typeof value === 'string' ? value.trim().toUpperCase() : value),
    z.enum(['PASS', 'FAIL'], or('is neither PASS nor FAIL')),
  );
  const verdict = (criterion: string) =>
    record({
      criterion: word.meta({ description: criterion }),
      status: passOrFail,
      reason: optionalText.meta({ description: 'what you saw' }),
    });

  // A vote that can't be read is left out: it says nothing about the item.
  const votes = <const T extends string>(effects: readonly [T, ...T[]]) =>
    z.preprocess(
      (value) => readVotes(value, effects),
      z.array(record({ id: text.meta({ description: 'L1' }), effect: z.enum(effects), reason: optionalText })),
    );

  const devForm = record({
    overall_status: z
      .preprocess(
        (value) => (typeof value === 'string' ? value.trim() : value),
        text.refine((status) => DEV_STATUS.test(status), 'is none of SUCCESS, FAILED (step N), FAILED (validation)'),
      )
      .meta({
        description: 'SUCCESS, FAILED (step N) or FAILED (validation)',
        examples: ['SUCCESS', 'FAILED (step N)', 'FAILED (validation)'],
      }),
    steps: list(
      record({
        step: z.int(),
        status: z.enum(['SUCCESS', 'FAILED']),
        output: text.meta({ description: 'what came of it, short' }),
      }),
    ),
    // Strict structured output has no maps with free names.
    captured_values: z.preprocess(
      (values, context) => {
        const read = readCaptured(values);
        if (Array.isArray(read)) return read;
        context.addIssue({ code: 'custom', ...read });
        return z.NEVER;
      },
      z.array(record({ name: text.meta({ description: 'its name' }), value: text.meta({ description: 'its value' }) })),
    ),
    self_validation: list(verdict('its text')),
    recommendations: z.preprocess(
      (value) => (typeof value === 'string' ? [value] : (value ?? [])),
      z.array(text.meta({ description: 'one sentence' }), or('is neither a list of texts nor "None"')),
    ),
    lessons: votes(['helped', 'harmed']),
    error: z.preprocess((value) => value ?? null, text.nullable()).meta({ description: 'what went wrong' }),
    key: optionalText.meta({ description: "the item's key" }),
  });
  const qaForm = record({
    overall_status: passOrFail,
    criteria: list(verdict('its text, word for word')),
    lessons: votes(['harmed']),
    summary: optionalText.meta({ description: 'one or two sentences' }),
  });
  const number = z.int(or('is not a number'));
  const managerForm = record({
    lessons: z
      .array(
        record({
          text: text.max(LONGEST_REASON, `is longer than ${LONGEST_REASON} characters`).meta({
            description: 'the step, without a number',
          }),
          from: z.array(z.preprocess(readNumber, number), or('is not a list')),
          same_as: z.preprocess((value) => value ?? null, text.nullable()).meta({ description: 'L1' }),
          // A choice between null and what is preprocessed would have no type in the JSON Schema.
          after: z.preprocess((value) => readNumber(value) ?? null, number.nullable()),
        }),
        or('is not a list'),
      )
      .max(MOST_ENTRIES, 'has too many entries'),
    summary: optionalText.meta({ description: 'one sentence' }),
  });

  return {
    form: { dev: devForm, qa: qaForm, manager: managerForm } satisfies Record<Role, ZodType>,
    /** Nothing depends on how a step ended. A program may say that its session lost context; a model can't know. */
    devReader: devForm.extend({
      steps: z.unknown().optional(),
      compacted: z.boolean(or('is neither true nor false')).nullish(),
    }),
    toJsonSchema: (form: ZodType) =>
      z.toJSONSchema(form, {
        io: 'output',
        override: ({ jsonSchema }) => {
          // The only choices are between a type and null.
          const { anyOf, ...rest } = jsonSchema;
          if (!anyOf) return;
          delete jsonSchema.anyOf;
          Object.assign(jsonSchema, rest, { type: anyOf.map((choice) => (choice as JsonSchema).type) });
        },
      }),
  };
}

const DEV_STATUS = /^(SUCCESS|FAILED \((step \d+|validation)\))$/;

function readNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
}

function isPlain(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean';
}

/** As much of JSON Schema as a report needs. */
export interface JsonSchema {
  readonly type: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
  readonly items?: JsonSchema;
  readonly examples?: readonly string[];
}

/** The form for programs with structured output, in the strict form that all providers take. */
export function reportSchema(role: Role): JsonSchema {
  return strict(schemaOf(role));
}

function schemaOf(role: Role): JsonSchema {
  const { form, toJsonSchema } = forms();
  return toJsonSchema(form[role]) as unknown as JsonSchema;
}

/** Lengths, ranges and examples are refused by some providers; the reader checks what matters. */
function strict({ type, description, enum: values, properties, required, items }: JsonSchema): JsonSchema {
  return {
    type,
    ...(description === undefined ? {} : { description }),
    ...(values === undefined ? {} : { enum: values }),
    ...(properties === undefined ? {} : { properties: mapValues(properties, strict), required: required ?? [] }),
    ...(properties === undefined ? {} : { additionalProperties: false }),
    ...(items === undefined ? {} : { items: strict(items) }),
  };
}

/** The form as a prompt shows it: a field on each line. */
export function reportForm(role: Role): string {
  const fields = Object.entries(schemaOf(role).properties ?? {});
  return `{\n${fields.map(([name, value]) => `  "${name}": ${shown(value)}`).join(',\n')}\n}`;
}

function shown({ type, description, enum: values, examples, properties, items }: JsonSchema): string {
  if (properties) {
    const fields = Object.entries(properties).map(([name, value]) => `"${name}": ${shown(value)}`);
    return `{${fields.join(', ')}}`;
  }
  if (items) return `[${shown(items)}]`;
  const types = [type].flat();
  const choice = values ?? examples ?? (types.includes('string') ? [description ?? '...'] : undefined);
  const value = choice ? choice.map((each) => JSON.stringify(each)).join(' or ') : 'N';
  return types.includes('null') ? `${value} or null` : value;
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

/**
 * Names and values, or what is wrong. Takes a map as well as the list that the form asks for. Done by hand, since zod
 * leaves out the name `__proto__`.
 */
function readCaptured(values: unknown): { name: string; value: string }[] | { path: string[]; message: string } {
  if (values == null) return [];
  if (typeof values !== 'object') return { path: [], message: 'is not an object' };
  const isPairs = isListOfPairs(values);
  if (Array.isArray(values) && !isPairs) return { path: [], message: 'is not an object' };
  const entries = isPairs
    ? values.map(({ name, value }): [string, unknown] => [String(name), value])
    : Object.entries(values);
  const wrong = entries.find(([, value]) => value !== null && typeof value === 'object');
  if (wrong) return { path: [wrong[0]], message: 'is not text' };
  return entries.flatMap(([name, value]) => (value == null ? [] : [{ name, value: String(value) }]));
}

/** The entries of a list that name a lesson and an effect. */
function readVotes(values: unknown, effects: readonly string[]): unknown[] {
  if (!Array.isArray(values)) return [];
  return values.flatMap((value) => {
    const id = /L\d+/.exec(String(value?.id))?.[0];
    const effect = String(value?.effect).trim().toLowerCase();
    if (id === undefined || !effects.includes(effect)) return [];
    return [{ id, effect, reason: value.reason ?? '' }];
  });
}

function isListOfPairs(values: object): values is { name: unknown; value: unknown }[] {
  const isPair = (each: unknown) => typeof each === 'object' && each !== null && 'name' in each && 'value' in each;
  return Array.isArray(values) && values.every(isPair);
}

/** The first thing that is wrong with a report, in a short sentence that names the field. */
export function problemIn(error: ZodError): string {
  const { path = [], message = 'is not readable' } = error.issues[0] ?? {};
  const field = path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .slice(1);
  return `${field === '' ? 'the report' : field} ${message}`;
}
