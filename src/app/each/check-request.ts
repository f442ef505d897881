import { parseScript } from '../../core/language/shell-template.ts';
import { parseTemplate, type Scope } from '../../core/language/template.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import { checkColumnName } from '../../core/model/names.ts';
import { EACH_TASK, type EachRequest } from '../../formats/each-task.ts';
import type { Table } from '../../formats/table.ts';

/** Throws for texts and placeholders that can't work, before anything is written. */
export function checkRequest(request: EachRequest, header: readonly string[], env: ReadonlySet<string>): void {
  const { text, isScript, checks, outputs } = request;
  if (text.trim() === '') throw new NightshiftError('usage', '--do is empty', 'say what to do: --do "Fix {path}"');
  if (checks.some((each) => each.trim() === '')) throw new NightshiftError('usage', '--check is empty');
  const columns = header.filter((name) => name !== EACH_TASK && !outputs.includes(name));
  check({ columns: new Set(columns), env, file: '--do' }, text, isScript ? parseScript : parseTemplate);
  // A check runs when the outputs are known.
  const ofCheck = { columns: new Set([...columns, ...outputs]), env, file: '--check' };
  for (const each of checks) check(ofCheck, each, parseScript);
}

/** If a placeholder names nothing, the error lists what it could name. */
function check(scope: Scope, text: string, parse: (text: string, scope: Scope, line: number) => unknown): void {
  try {
    parse(text, scope, 1);
  } catch (error) {
    if (!(error instanceof NightshiftError) || error.placeholder === undefined) throw error;
    const { code, message, hint, file, line } = error;
    throw new NightshiftError(code, message, `${hint}; columns are: ${[...scope.columns].join(', ')}`, {
      ...(file === undefined ? {} : { file }),
      ...(line === undefined ? {} : { line }),
    });
  }
}

/** Throws for outputs and columns of the items that get in each other's way. */
export function checkColumns({ outputs }: Pick<EachRequest, 'outputs'>, items: Table): void {
  if (items.columnOf(EACH_TASK) >= 0) {
    const message = `the items have a column "${EACH_TASK}", and the table needs one of that name for its statuses`;
    throw new NightshiftError('usage', message, 'rename the column');
  }
  for (const [index, name] of outputs.entries()) {
    checkColumnName(name);
    if (name.includes(','))
      throw new NightshiftError('usage', `--out ${name}: a name can't have a comma`, 'repeat --out');
    if (name === EACH_TASK) throw new NightshiftError('usage', `--out ${name}: that column holds the statuses`);
    if (outputs.indexOf(name) < index) throw new NightshiftError('usage', `--out ${name} is given twice`);
    const column = items.columnOf(name);
    for (let row = 0; column >= 0 && row < items.rowCount; row++) {
      if (items.cell(row, column) === '') continue;
      const message = `--out ${name}: the items have values in that column, which would be overwritten`;
      throw new NightshiftError('usage', message, 'choose another name for --out');
    }
  }
}
