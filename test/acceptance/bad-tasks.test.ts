import { describe } from 'vitest';
import { agentTask, shellTask, task } from '../harness.ts';
import { check, type Mistake, setManager, setTask, TASK, twoTasks } from '../mistakes.ts';

describe('V2 placeholders that name nothing', () => {
  const step = (text: string, says: RegExp, advises: RegExp): Mistake => ({
    make: setTask(shellTask(text)),
    says,
    advises,
    at: 'make_page.md:10',
  });
  check({
    'a column that is not there': step('echo {nmae}', /\{nmae\}: .*no such column/, /did you mean \{name\}\?/),
    'a column that is like none': step(
      'echo {whatever}',
      /\{whatever\}: .*no such column/,
      /name, size|\{\{whatever\}\}/,
    ),
    'a variable that is not there': step('echo {ENV:API_KEI}', /\{ENV:API_KEI\}: /, /did you mean \{ENV:API_KEY\}\?/),
    'a variable of another file': step('echo {ENV:HOME_PAGE_URL}', /no such variable/, /add HOME_PAGE_URL= to .*\.env/),
    'another SHIFT key': step('echo {SHIFT:FOLDR}', /\{SHIFT:FOLDR\}: /, /did you mean \{SHIFT:FOLDER\}\?/),
    'in the words of a step': {
      make: setTask(agentTask('1. Do it\n2. Then\n   open {nmae}')),
      says: /\{nmae\}: /,
      advises: /did you mean \{name\}\?/,
      at: 'make_page.md:11',
    },
    'in a criterion': {
      make: setTask(agentTask('1. Do it', '- One\n- {siez} is right')),
      says: /\{siez\}: /,
      advises: /did you mean \{size\}\?/,
      at: 'make_page.md:14',
    },
    'in working-dir': {
      make: setTask(shellTask('true', 'true', '- working-dir: out/{nmae}')),
      says: /\{nmae\}: /,
      advises: /did you mean \{name\}\?/,
      at: 'make_page.md:3',
    },
    'in a task that comes after a right one': {
      make: (shift) => twoTasks(shift, '', '', '{nmae}'),
      says: /\{nmae\}: /,
      advises: /did you mean \{name\}\?/,
      at: 'check_page.md:10',
    },
    'an output whose key is misspelt': {
      make: (shift) => twoTasks(shift, '- outptus: url', '', '{url}'),
      says: /\{url\}: .*no such column/,
      advises: /; also: unknown key `outptus` \(.*make_page\.md line 3\); did you mean `outputs`\?$/,
      at: 'check_page.md:10',
    },
    'an output of a later task': {
      make: (shift) => twoTasks(shift, '', '- outputs: url', '', '{url}'),
      says: /\{url\}: this column is filled by check_page, which comes later/,
      advises: /move check_page before this task/,
      at: 'make_page.md:10',
    },
  });
});

describe('V4 values that would become shell text', () => {
  const step = (text: string, says: RegExp, advises: RegExp, line = 10): Mistake => ({
    make: setTask(shellTask(text)),
    says,
    advises,
    at: `make_page.md:${line}`,
  });
  check({
    eval: step('eval "echo {name}"', /\{name\}.*shell text/, /"\$value"/),
    'sh -c': step('sh -c "echo {name}"', /\{name\}.*shell text/, /sh -c 'echo "\$1"' sh \{name\}/),
    backticks: step('x=`echo {name}`', /\{name\}.*backticks/, /\$\( \)/),
    arithmetic: step('echo $(( {size} + 1 ))', /\{size\}.*arithmetic/, /case \{size\} in/),
    'a parameter expansion': step(`x=1\necho "\${x:-{name}}"`, /\{name\}/, /value=\{name\}/, 11),
    'a quoted here-document': step("cat <<'EOF'\n{name}\nEOF", /\{name\}.*literally/, /take the quotes off/, 11),
    'the name of a variable': step('{name}=1', /\{name\}.*name of a variable/, /fixed name/),
    'a remote command': step('ssh host "rm {name}"', /\{name\}.*ssh/, /printf %s \{name\} \| ssh/),
    'a backslash': step('echo \\{name}', /\{name\}.*backslash/, /remove the backslash/),
    'a check': {
      make: setTask(shellTask('true', 'eval {name}')),
      says: /\{name\}.*shell text/,
      advises: /"\$value"/,
      at: 'make_page.md:18',
    },
  });
});

describe('X1 settings', () => {
  const configured = (configuration: string, says: RegExp, advises: RegExp, line = 3): Mistake => ({
    make: setTask(shellTask('true', 'true', configuration)),
    says,
    advises,
    at: `make_page.md:${line}`,
  });
  check({
    'a time that is none': configured('- timeout: soon', /`timeout: soon` is not a time/, /90s, 30m or 2h/),
    'a time below zero': configured('- check-timeout: -5m', /`check-timeout: -5m` is not a time/, /90s/),
    'no attempt': configured('- attempts: 0', /`attempts: 0` is not a number from 1 to 10/, /attempts: 3/),
    'half an attempt': configured('- attempts: 1.5', /`attempts: 1.5` is not a number/, /attempts: 3/),
    'too many qa-retries': configured(
      '- qa-retries: 10',
      /`qa-retries: 10` is not a number from 0 to 9/,
      /qa-retries: 0/,
    ),
    'a delay that is none': configured('- retry-delay: later', /`retry-delay: later` is not a time/, /90s/),
    'no time at all': configured('- timeout: 0s', /`timeout: 0s` is not a time/, /90s/),
    'a time of the whole shift': {
      make: setManager((text) => text.replace('- agent: shell', '- agent: shell\n- timeout: 5 apples')),
      says: /`timeout: 5 apples` is not a time/,
      advises: /90s, 30m or 2h/,
      at: 'manager.md:8',
    },
    'another qa': configured(
      '- qa: never',
      /`qa: never` is not one of auto, always, parallel/,
      /write auto, always, parallel/,
    ),
    'an unknown agent': configured('- agent: shel', /there is no agent "shel"/, /did you mean shell\? .*command/),
    'an unknown agent of the whole shift': {
      make: setManager((text) => text.replace('- agent: shell', '- agent: claud')),
      says: /there is no agent "claud"/,
      advises: /agents are: .*shell/,
      at: 'manager.md:7',
    },
    'an unknown agent on the command line': {
      args: ['start', 'pages', '--agent', 'shel'],
      says: /there is no agent "shel"/,
      advises: /did you mean shell\?/,
      at: '',
    },
    'no agent': {
      make: setManager((text) => text.replace('- agent: shell\n', '')),
      says: /the agent of make_page can't be started; `- agent: NAME` chooses another one/,
      advises: /no program opencode on PATH: install it .*opencode-ai/,
      at: 'make_page.md:1',
      exit: 6,
    },
    'an agent whose key is misspelt': {
      make: setManager((text) => text.replace('- agent: shell', '- agnet: shell')),
      says: /the agent of make_page can't be started/,
      advises:
        /no program opencode on PATH: .*; also: unknown key `agnet` \(.*manager\.md line 7\); did you mean `agent`\?$/,
      at: 'make_page.md:1',
      exit: 6,
    },
    'an agent of a shift that is to be made': {
      args: ['create', 'other', '--agent', 'shel'],
      says: /there is no agent "shel"/,
      advises: /agents are: .*shell/,
      at: '',
    },
    'command without its line': configured('- agent: command', /no command is set/, /add `- command: LINE`/),
    'an agent program that is not there': {
      ...configured(
        '- agent: command\n- command: no-such-program --now',
        /the agent of make_page can't be started/,
        /no program no-such-program on PATH: install it, or correct/,
        4,
      ),
      exit: 6,
    },
    'an agent program in a folder that is not there': {
      ...configured(
        '- agent: command\n- command: ./bin/agent.sh',
        /the agent of make_page can't be started/,
        /no program \.\/bin\/agent\.sh in .*correct/,
        4,
      ),
      exit: 6,
    },
  });
});

describe('X3 what the agent shell can not do', () => {
  check({
    'a step without a block': {
      make: setTask(task({ steps: '1. Do it\n\n   ```sh\n   true\n   ```\n2. Think', validation: '- true' })),
      says: /step 2 of make_page has no `sh` or `bash` block/,
      advises: /a ```sh block/,
      at: 'make_page.md:12',
    },
    'a criterion without a check': {
      make: setTask(`${TASK}- It is beautiful\n`),
      says: /criterion 2 of make_page has no check/,
      advises: /add a ```sh block below it/,
      at: 'make_page.md:20',
    },
    'a step with a block of another shell': {
      make: setTask(TASK.replace('```sh', '```console')),
      says: /the ```console block of step 1 would not run/,
      advises: /write ```sh or ```bash for a script, ```text for text/,
      at: 'make_page.md:9',
    },
    'a criterion with a block of another shell': {
      make: setTask(`${TASK}- It is beautiful\n  \`\`\`zsh\n  true\n  \`\`\`\n`),
      says: /the ```zsh block of criterion 2 would not run/,
      advises: /write ```sh or ```bash/,
      at: 'make_page.md:21',
    },
    'qa: always': {
      make: setTask(shellTask('true', 'true', '- qa: always')),
      says: /`qa: always` needs an agent that can judge/,
      advises: /write `qa: auto`/,
      at: 'make_page.md:3',
    },
    'a `protect` that leads out': {
      make: setTask(shellTask('true', 'true', '- protect: dist/**, ../data/*.db')),
      says: /`protect: \.\.\/data\/\*\.db` leads out of the working folder/,
      advises: /name files in it/,
      at: 'make_page.md:3',
    },
    'two checks for one criterion': {
      make: setTask(`${TASK}\n   \`\`\`sh\n   true\n   \`\`\`\n`),
      says: /criterion 1 has 2 scripts/,
      advises: /use one block, or one criterion for each/,
      at: 'make_page.md:15',
    },
  });
});
