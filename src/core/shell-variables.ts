import type { Command } from './shell-lexer.ts';
import { HOLE, type Word } from './shell-word.ts';

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=/;
const NAME = /^[A-Za-z_]\w*$/;

export function isAssignment({ raw }: Word): boolean {
  return ASSIGNMENT.test(raw);
}

/** Holds a value, or what a command printed, whatever the block assigns. */
export function isOpen(expanded: string): boolean {
  return expanded === HOLE || /^([(@*_]|[1-9]\d*|NIGHTSHIFT_(V_.*|ITEM))$/.test(expanded);
}

/** Variables of a block that may hold a value, or what a command printed or read. Order does not matter: there are loops. */
export function openVariables(commands: readonly Command[], inherited: ReadonlySet<string>): ReadonlySet<string> {
  return closure(commands, inherited, isOpen);
}

/** Variables that a value was assigned to as it is. */
export function valuedVariables(commands: readonly Command[]): ReadonlySet<string> {
  return closure(commands, new Set(), (expanded) => expanded === HOLE);
}

function closure(
  commands: readonly Command[],
  inherited: ReadonlySet<string>,
  isSource: (expanded: string) => boolean,
): ReadonlySet<string> {
  const found = new Set(inherited);
  const assignments = commands.flatMap(({ words }) => assignmentsOf(words));
  for (const { name, from } of assignments) if (from === undefined && isSource('(')) found.add(name);
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const { name, from } of assignments) {
      if (from?.expands.some((expanded) => isSource(expanded) || found.has(expanded))) found.add(name);
    }
  }
  return found;
}

/** `from` absent: from the input. */
function assignmentsOf(words: readonly Word[]): { name: string; from?: Word }[] {
  const [first, ...rest] = words.filter((word) => !isAssignment(word));
  const assigned = words.filter(isAssignment).map((from) => ({ name: /^\w+/.exec(from.raw)![0], from }));
  if (first?.text === 'for' || first?.text === 'select') {
    const name = rest[0]?.text ?? '';
    return rest[1]?.text === 'in' ? rest.slice(2).map((from) => ({ name, from })) : [{ name }];
  }
  const reads = /^(read|getopts|mapfile|readarray)$/.test(first?.text ?? '');
  const names = reads ? rest.filter(({ text }) => NAME.test(text)).map(({ text }) => ({ name: text })) : [];
  return [...assigned, ...names, ...(reads ? [{ name: 'REPLY' }, { name: 'OPTARG' }, { name: 'MAPFILE' }] : [])];
}
