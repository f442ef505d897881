/** Why a placeholder can't be used at some place of a shell block, and what to write instead (rule V4). */
export interface Refusal {
  readonly cause: string;
  readonly instead: (spelling: string) => string;
}

const asArgument = (spelling: string) => `give it as an argument: sh -c 'echo "$1"' sh ${spelling}`;
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
  instead: asArgument,
};

export const EVALUATED: Refusal = {
  cause: 'the value would be read as shell text, or as a part of one',
  instead: (spelling) => `write value=${spelling} on a line of its own before, and "$value" inside single quotes here`,
};

export const SHELL_INPUT: Refusal = {
  cause: 'the program would run the value as a part of its input',
  instead: asArgument,
};

export const CHOSEN_SCRIPT: Refusal = {
  cause: 'the value would choose which file is run',
  instead: () => 'name the script, or choose between fixed ones with case',
};

export const CHOSEN_PROGRAM: Refusal = {
  cause: 'the value would choose which program is run',
  instead: () => 'name the program, or choose between fixed ones with case',
};

export const CODE: Refusal = {
  cause: 'the value would be a part of the code that is run, or choose it',
  instead: (spelling) => `give it as an argument behind the code or the script: python3 script.py ${spelling}`,
};

export const AWK: Refusal = {
  cause: 'the value would be a part of the program that awk runs',
  instead: (spelling) => `give it as a variable: awk -v value=${spelling} '{ print value }'`,
};

export const SED: Refusal = {
  cause: 'the value would be a part of the script that sed runs, and some commands of sed run a shell',
  instead: (spelling) => `use awk with a variable (awk -v value=${spelling} '...'), or python3 - ${spelling} <<'EOF'`,
};

export const CLIENT: Refusal = {
  cause: 'the program would read the value as one of its commands',
  instead: (spelling) => `give it as a parameter: python3 - ${spelling} <<'EOF', or psql -v value=${spelling}`,
};

export const FORMAT: Refusal = {
  cause: 'printf would read the value as an option or a format',
  instead: (spelling) => `write printf '%s\\n' ${spelling}`,
};

export const COUNTED: Refusal = {
  cause: 'a variable that holds the value is read as an arithmetic expression, and some shells run commands in those',
  instead: (spelling) => `before it, write case ${spelling} in ''|*[!0-9]*) exit 1 ;; esac`,
};

export const REMOTE_COMMAND: Refusal = {
  cause: 'ssh joins its arguments into shell text for the other machine',
  instead: (spelling) => `send it as input: printf %s ${spelling} | ssh host 'cat > file'`,
};

export const SSH_OPTION: Refusal = {
  cause: 'some options of ssh run a command',
  instead: () => 'set the option to a fixed text',
};

export const CODE_OPTION: Refusal = {
  cause: 'the program runs what this option holds, or what the file that it names says',
  instead: () => 'set the option to a fixed text',
};

export const GIT: Refusal = {
  cause: 'git runs what many of its settings and some of its options hold',
  instead: () => 'use a fixed text here',
};

export const JQ: Refusal = {
  cause: 'the value would be a part of the program that jq runs',
  instead: (spelling) => `give it as a variable: jq --arg value ${spelling} '.title = $value'`,
};

export const PERL_FILE: Refusal = {
  cause: 'perl runs a file name that begins or ends with |',
  instead: (spelling) => `redirect the file: perl -ne '...' < ${spelling}`,
};

export const DOUBLE_BRACKETS: Refusal = {
  cause: 'shells differ in [[ ]], and some read a value in it as an arithmetic expression',
  instead: () => 'use [ ]',
};

export const SHELL_SETTING: Refusal = {
  cause: 'shells expand the value of this variable as shell text',
  instead: () => 'set it to a fixed text',
};

/** The following apply to the whole block because of one of its lines. */
export function notLiteral(program: string, line: number): Refusal {
  return {
    cause: `\`${program}\` on line ${line} evaluates text that is not fixed, and the value could be in it`,
    instead: (spelling) => `put that text into single quotes, and ${asArgument(spelling)}`,
  };
}

export function runsInput(program: string, line: number): Refusal {
  return {
    cause: `\`${program}\` on line ${line} runs what it reads from its input, and the value could be in it`,
    instead: (spelling) => `give it fixed code, and the value as an argument: sh -c 'echo "$1"' sh ${spelling}`,
  };
}

export function unknownProgram(program: string, line: number): Refusal {
  return {
    cause: `\`${program}\` on line ${line} could be a shell or another program that evaluates text`,
    instead: () => 'name the program there',
  };
}

export function writesAndRuns(file: string, line: number): Refusal {
  return {
    cause: `line ${line} runs ${file}, which this block may write, and the value could be in it`,
    instead: (spelling) => `give the value to a fixed script as an argument: sh script.sh ${spelling}`,
  };
}

export function renames(program: string, line: number): Refusal {
  return {
    cause: `\`${program}\` on line ${line} gives a program another name, so it is not certain what this block runs`,
    instead: () => 'name the program itself',
  };
}

export function readsOptions(program: string, line: number): Refusal {
  return {
    cause: `\`${program}\` on line ${line} makes arguments of its input, and the value could be an option among them`,
    instead: () => `end the command of ${program} with --`,
  };
}

export function unsure(what: string, line: number): Refusal {
  return {
    cause: `it is not certain how a shell reads this block, because of ${what} on line ${line}`,
    instead: (spelling) => `write that line in POSIX shell, or move the block to a file: bash script.sh ${spelling}`,
  };
}
