import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LocalOrder, Role } from '../core/model/model.ts';
import { NO_MASK } from '../core/text/mask.ts';
import { type JsonSchema, reportForm, reportSchema } from './forms.ts';
import { devPrompt, managerPrompt, qaPrompt } from './prompt.ts';
import { readDevReport, readManagerReport, readQaReport } from './report.ts';

const order = {
  ...{ shift: { name: 's', folder: '/s', table: '/s/table.csv', root: '/' }, task: 't', version: 'v', key: 'k' },
  ...{ item: { id: 'i', index: 0, metadata: {} }, workingDir: ['/'], document: [''], secretNames: [] },
  settings: { outputs: [] },
} as unknown as LocalOrder;
const ROLES: Role[] = ['dev', 'qa', 'manager'];
const prompts: Record<Role, () => string> = {
  dev: () => devPrompt(order, { number: 1 }).join(''),
  qa: () => qaPrompt(order, [['c']]).join(''),
  manager: () => managerPrompt({ task: 't', steps: ['s'], lessons: [], recommendations: [] }),
};
const read: Record<Role, (raw: unknown) => object> = {
  dev: (raw) => readDevReport(raw, 'k', NO_MASK),
  qa: (raw) => readQaReport(raw, ['c'], NO_MASK),
  manager: readManagerReport,
};

/** The form as a model would fill it in: the first choice everywhere. */
function filledIn(form: string): unknown {
  return JSON.parse(
    form.replace(/("[^"]*") or [^,}\]\n]+(?=[,}\]\n])/g, '$1').replace(/\bN( or null)?(?=[,}\]])/g, '1'),
  );
}

/** The names of all fields, with their nesting. */
function fieldsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fieldsOf);
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, fieldsOf(field)]));
}

function fieldsIn({ properties, items }: JsonSchema): unknown {
  if (items) return [fieldsIn(items)];
  if (!properties) return null;
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, fieldsIn(field)]));
}

function everyPart(schema: JsonSchema): JsonSchema[] {
  const parts = [...Object.values(schema.properties ?? {}), ...(schema.items ? [schema.items] : [])];
  return [schema, ...parts.flatMap(everyPart)];
}

/** Any value that has the form. */
function anyOf({ type, enum: values, properties, items }: JsonSchema): fc.Arbitrary<unknown> {
  if (values) return fc.constantFrom(...values);
  if (properties) {
    return fc.record(Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, anyOf(field)])));
  }
  if (items) return fc.array(anyOf(items), { maxLength: 3 });
  const kinds = { string: fc.string(), integer: fc.nat(), null: fc.constant(null) };
  return fc.oneof(...[type].flat().map((kind): fc.Arbitrary<unknown> => kinds[kind as keyof typeof kinds]));
}

describe.each(ROLES)('the form of a report: %s', (role) => {
  it('D4 Q3 L2 is the same in the prompt and in the schema, and the reader takes it filled in', () => {
    const form = reportForm(role);
    expect(prompts[role]()).toContain(`\n${form}\n`);
    const report = { ...(filledIn(form) as object), ...(role === 'dev' ? { key: 'k' } : {}) };
    expect(fieldsOf(report)).toEqual(fieldsIn(reportSchema(role)));
    expect(read[role](report)).not.toHaveProperty('unusable');
  });

  it('D4 Q3 L2 is strict, as providers want it: every field is required, and no other keyword is used', () => {
    const known = ['type', 'description', 'enum', 'properties', 'required', 'additionalProperties', 'items'];
    for (const part of everyPart(reportSchema(role))) {
      expect(known).toEqual(expect.arrayContaining(Object.keys(part)));
      expect(['string', 'integer', 'array', 'object', 'null']).toEqual(expect.arrayContaining([part.type].flat()));
      if (!part.properties) continue;
      expect(part).toMatchObject({ required: Object.keys(part.properties), additionalProperties: false });
    }
  });

  it('D4 Q3 L2 is read, whatever it is filled in with', () => {
    fc.assert(
      fc.property(anyOf(reportSchema(role)), fc.constantFrom('SUCCESS', 'FAILED (step 3)'), (raw, status) => {
        const report = read[role](role === 'dev' ? { ...(raw as object), overall_status: status, key: 'k' } : raw);
        const problem = 'unusable' in report ? report.unusable : '';
        expect(problem).toBe('');
      }),
      { numRuns: 200 },
    );
  });
});
