import type { Role } from '../core/model/model.ts';

/**
 * The form of each report as a JSON Schema, for programs that have structured output. In the strict form that all providers
 * take: every field required, none besides. `report.ts` reads what comes back, and takes nothing on trust.
 */
const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };
const passOrFail = { type: 'string', enum: ['PASS', 'FAIL'] };
const verdicts = list(record({ criterion: text, status: passOrFail, reason: text }));

export const REPORT_SCHEMA: Readonly<Record<Role, object>> = {
  dev: record({
    overall_status: { type: 'string', description: 'SUCCESS, FAILED (step N) or FAILED (validation)' },
    steps: list(
      record({ step: { type: 'integer' }, status: { type: 'string', enum: ['SUCCESS', 'FAILED'] }, output: text }),
    ),
    // A map with names that nobody knows beforehand has no strict form.
    captured_values: list(record({ name: text, value: text })),
    self_validation: verdicts,
    recommendations: list(text),
    error: textOrNull,
    key: text,
  }),
  qa: record({ overall_status: passOrFail, criteria: verdicts, summary: text }),
  manager: record({
    changes: list(
      record({
        op: { type: 'string', enum: ['add', 'replace', 'remove'] },
        after: numberOrNull('add: the step it comes after, 0 for before the first; else null'),
        step: numberOrNull('replace, remove: the step; else null'),
        text: { ...textOrNull, description: 'add, replace: the text, without a number; else null' },
      }),
    ),
    summary: text,
  }),
};

function record(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

function list(items: object): object {
  return { type: 'array', items };
}

function numberOrNull(description: string): object {
  return { type: ['integer', 'null'], description };
}
