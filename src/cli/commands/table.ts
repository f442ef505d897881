import { editWithToken } from '../../app/batch/token-edit.ts';
import { openTable } from '../../app/edit/edit-items.ts';
import { requireRoot, type ShiftPaths, shiftNames } from '../../app/find-shift.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { nearest } from '../../core/model/names.ts';
import { rowLines, rowsJson, tokenEditLine } from '../../views/table.ts';
import { isVerb, VERBS, type Verb } from '../access.ts';
import { chooseShift } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';
import { runVerb } from '../table-verbs.ts';

export async function run(io: Io, given: readonly string[], options: Options): Promise<number> {
  const { name, verb, args } = readArguments(io, given);
  const paths = await chooseShift(io, name);
  const table = await openTable(io, paths);
  refuseExtra(verb, args);
  if (options.token !== undefined && verb === 'edit') return editOwnStatus(io, paths, args, options);
  const answer = await runVerb(verb, { table, args, options });
  if ('rows' in answer) {
    if (options.json) io.print(rowsJson(answer.rows));
    else for (const line of rowLines(answer.rows)) io.print(line);
    return EXIT.done;
  }
  io.print(options.json ? JSON.stringify(answer.json) : answer.line);
  if (answer.note !== undefined) io.warn(`note: ${answer.note}`);
  return EXIT.done;
}

/** `table SHIFT VERB ...`, or `table VERB ...` for the only shift. */
function readArguments(io: Io, given: readonly string[]): { name?: string; verb: Verb; args: readonly string[] } {
  requireRoot(io);
  const [first = '', second = ''] = given;
  const isNamed = shiftNames(io).includes(first) || !isVerb(first);
  const [verb, args] = isNamed ? [second, given.slice(2)] : [first, given.slice(1)];
  if (isVerb(verb)) return { verb, args, ...(isNamed && first !== '' ? { name: first } : {}) };
  const near = nearest(verb, VERBS);
  const message = verb === '' ? 'a verb is missing' : `there is no verb ${JSON.stringify(verb)}`;
  throw new NightshiftError('usage', message, near ? `did you mean ${near}?` : `verbs are: ${VERBS.join(', ')}`);
}

/** How many arguments a verb takes. One more is a slip, such as `--row 1 2`. */
const MOST_ARGUMENTS: Partial<Record<Verb, number>> = {
  ...{ edit: 3, add: Number.POSITIVE_INFINITY, import: 1 },
  ...{ 'add-column': 1, 'rename-column': 2, 'drop-column': 1 },
};
const TAKES_ROWS: readonly Verb[] = ['slice', 'remove', 'reset'];

function refuseExtra(verb: Verb, args: readonly string[]): void {
  const extra = args[MOST_ARGUMENTS[verb] ?? 0];
  if (extra === undefined) return;
  const hint = TAKES_ROWS.includes(verb) ? 'write --row before each row' : undefined;
  throw new NightshiftError('usage', `${verb} does not take ${JSON.stringify(extra)}`, hint);
}

/** An agent of an open batch writes its status. It must not take a failed item for success. */
async function editOwnStatus(io: Io, paths: ShiftPaths, args: readonly string[], options: Options): Promise<number> {
  const [column = '', index = '', value = ''] = args;
  const { token, reason, recommend, captured, helped, harmed } = options;
  const said = { reason, recommend, captured, helped, harmed };
  const result = await editWithToken(io, paths, { column, index, value, token, ...said });
  if (result.isWritten) {
    io.print(tokenEditLine(result));
    return result.isAsAsked ? EXIT.done : EXIT.failedItems;
  }
  io.warn(tokenEditLine(result));
  return result.attemptsLeft === undefined ? EXIT.stopped : EXIT.failedItems;
}
