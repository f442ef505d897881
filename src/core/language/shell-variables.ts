import type { Command, Lexer } from './shell-lexer.ts';
import { HOLE, type Word } from './shell-word.ts';

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=/;
const NAME = /^[A-Za-z_]\w*$/;
/** Programs run the content of these variables, or start other programs because of them. */
export const SETTINGS =
  /^(PS[0-4]|ENV|BASH_ENV|BASHOPTS|SHELLOPTS|PROMPT_COMMAND|IFS|PATH|CDPATH|HOME|XDG_\w+|SHELL|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESS|LESSOPEN|LD_\w+|DYLD_\w+|GIT_(DIR|TEMPLATE_DIR|EXEC_PATH|\w*(COMMAND|EDITOR|PAGER|DIFF|ASKPASS|SSH|CONFIG\w*))|(SUDO|SSH)_ASKPASS|PYTHON(STARTUP|PATH|HOME|INSPECT|WARNINGS)|PERL5\w+|RUBY(OPT|LIB)|NODE_OPTIONS|NODE_PATH|npm_config_\w+|MAKEFLAGS|\w*JAVA_(TOOL_)?OPTIONS|TAR_OPTIONS|RSYNC_RSH)\+?=/;

export function isAssignment({ raw }: Word): boolean {
  return ASSIGNMENT.test(raw);
}

/** Contains a value or the output of a command, whatever the block assigns. */
export function isOpen(expanded: string): boolean {
  return expanded === HOLE || /^([(@*_]|[1-9]\d*|NIGHTSHIFT_(V_.*|ITEM))$/.test(expanded);
}

/** The variable at the beginning of the word, if any. */
export function beginsWith({ text }: Word): string {
  return /^\$\{?(\w+|[@*])/.exec(text)?.[1] ?? '';
}

/**
 * Variables of a block that may contain a value, or what a command printed or read. The order of commands does not
 * matter, because there are loops.
 */
export function openVariables(commands: readonly Command[], inherited?: ReadonlySet<string>): ReadonlySet<string> {
  return closure(commands, inherited, (from) => from === undefined || from.expands.some(isOpen));
}

/** The output of a substitution that counts is a number, whatever its input. */
const COUNTS = /\b(wc|stat|nproc|length|expr|date|cksum|du)\b|grep -\w*c|--count/;

/** Variables that contain a value as it is, or text printed from one; also the arguments of functions. */
export function valuedVariables(
  { commands, functions }: Pick<Lexer, 'commands' | 'functions'>,
  inherited?: ReadonlySet<string>,
): ReadonlySet<string> {
  const holdsValue = ({ expands, hasHole, raw }: Word) => expands.includes(HOLE) || (hasHole && !COUNTS.test(raw));
  const isSource = (from: Word | undefined) => from !== undefined && holdsValue(from);
  const found = closure(commands, inherited, isSource);
  const isGiven = commands.some(({ words: [first, ...rest] }) => {
    const takes = first !== undefined && (functions.has(first.text) || first.text === 'set');
    return takes && rest.some((word) => isSource(word) || word.expands.some((each) => found.has(each)));
  });
  return isGiven ? closure(commands, new Set([...found, ...'123456789@*']), isSource) : found;
}

function closure(
  commands: readonly Command[],
  inherited: ReadonlySet<string> = new Set(),
  isSource: (from: Word | undefined) => boolean,
): ReadonlySet<string> {
  const found = new Set(inherited);
  const assignments = commands.flatMap(({ words }) => assignmentsOf(words));
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const { name, from } of assignments) {
      if (isSource(from) || from?.expands.some((expanded) => found.has(expanded))) found.add(name);
    }
  }
  return found;
}

/** Without `from`: from the input. */
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
