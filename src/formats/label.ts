import { parseTemplate, type Template } from '../core/language/template.ts';
import { NightshiftError } from '../core/model/errors.ts';
import type { Setting } from '../core/model/model.ts';
import { nearest } from '../core/model/names.ts';

/** `label:` of the Shift Configuration: a column, or text with placeholders for columns. */
export function compileLabel(
  setting: Setting | undefined,
  columns: ReadonlySet<string>,
  file: string,
): Template | undefined {
  if (setting === undefined || setting.value === '') return undefined;
  const { value, line } = setting;
  if (columns.has(value)) return { segments: [{ kind: 'column', name: value }] };
  const refuse = (message: string, hint: string) => {
    return new NightshiftError('bad-manager', `\`label: ${value}\`: ${message}`, hint, { file, line });
  };
  if (value.includes('{ENV:')) {
    throw refuse(
      'a label may not contain values of .env, because it is printed and recorded',
      'name columns of the table',
    );
  }
  const template = parseTemplate(value, { columns, env: new Set(), file }, line);
  if (template.segments.some((segment) => typeof segment !== 'string')) return template;
  const near = nearest(value, columns);
  const all = `columns: ${[...columns].join(', ')}. Write one of them, or text with {column}`;
  throw refuse('the table has no such column', near === undefined ? all : `did you mean ${near}?`);
}
