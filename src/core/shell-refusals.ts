/** Why a placeholder can't stand somewhere in a shell block, and what to write instead (rule V4). */
export interface Refusal {
  readonly cause: string;
  readonly instead: (spelling: string) => string;
}

const assignFirst = (spelling: string) => `write value=${spelling} on a line of its own before, and "$value" here`;

export const QUOTED_HERE_DOCUMENT: Refusal = {
  cause: 'a here-document with a quoted delimiter takes everything literally',
  instead: () => 'take the quotes off the delimiter, and put a backslash before each $ and ` that is meant literally',
};

export const DELIMITER: Refusal = {
  cause: 'the delimiter of a here-document is never expanded',
  instead: () => 'use a fixed word as the delimiter',
};

export const BACKTICKS: Refusal = {
  cause: 'quoting inside backticks is not reliable',
  instead: () => 'write $( ) instead of the backticks',
};

export const PARAMETER_EXPANSION: Refusal = {
  cause: 'inside a parameter expansion the shell would read the value as a name or a pattern',
  instead: assignFirst,
};

export const ARITHMETIC: Refusal = {
  cause: 'the shell would read the value as an arithmetic expression, and some shells run commands in those',
  instead: (spelling) =>
    `before it, write case ${spelling} in ''|*[!0-9]*) exit 1 ;; esac and n=${spelling} on lines of their own, and n here`,
};

export const ESCAPED: Refusal = {
  cause: 'the backslash before it would escape the reference to the value',
  instead: (spelling) => `remove the backslash, or write {${spelling}} for the text itself`,
};

export const ANSI_QUOTES: Refusal = {
  cause: "shells differ in what $'...' means",
  instead: () => 'use double quotes',
};

export const NAME: Refusal = {
  cause: 'a value of the table would be the name of a variable or a function',
  instead: () => 'use a fixed name',
};

export const SHELL_TEXT: Refusal = {
  cause: 'the value would be read as shell text',
  instead: (spelling) => `give it as an argument: sh -c 'echo "$1"' sh ${spelling}`,
};

export const EVALUATED: Refusal = {
  cause: 'the value would be read as shell text',
  instead: (spelling) => `write value=${spelling} on a line of its own before, and "$value" inside single quotes here`,
};

export const SHELL_INPUT: Refusal = {
  cause: 'a shell would read the value as commands from its standard input',
  instead: (spelling) => `give it as an argument: sh -c 'echo "$1"' sh ${spelling}`,
};

export const REMOTE_COMMAND: Refusal = {
  cause: 'ssh joins its arguments into shell text for the other machine',
  instead: (spelling) => `send it as input: printf %s ${spelling} | ssh host 'cat > file'`,
};

export const SSH_OPTION: Refusal = {
  cause: 'ssh could read the value as an option that runs a command',
  instead: (spelling) => `write ssh -- ${spelling}, with all options before the --`,
};

export const SHELL_OPTION: Refusal = {
  cause: 'the value before it could be an option such as -c, and this one would be read as shell text',
  instead: () => 'write -- before the first of them, as in sh -- {script} {value}',
};

export const CHOSEN_PROGRAM: Refusal = {
  cause: 'the program comes from the table too, and could be eval or another that reads its arguments as shell text',
  instead: () => 'name the program, or choose between fixed ones with case',
};

export const DOUBLE_BRACKETS: Refusal = {
  cause: 'shells differ in [[ ]], and some read a value in it as an arithmetic expression',
  instead: () => 'use [ ]',
};

export const SHELL_SETTING: Refusal = {
  cause: 'shells expand the value of this variable as shell text',
  instead: () => 'set it to a fixed text',
};

/** After a construct that this reader and the shells may take differently. */
export function unsure(what: string, line: number): Refusal {
  return {
    cause: `it is not certain how a shell reads this place, because of ${what} on line ${line}`,
    instead: (spelling) => `write value=${spelling} on a line of its own before line ${line}, and "$value" here`,
  };
}
