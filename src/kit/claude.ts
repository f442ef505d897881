import type { KitFile } from './kit.ts';
import { COMMANDS, DEV, MANAGER, QA } from './texts.ts';

const READING = 'Read, Glob, Grep';

/**
 * The same for Claude Code: subagents, and skills that people call as slash commands. There a subagent starts no
 * others, so the skill that runs a shift makes the conversation itself the manager; the manager's own agent is for
 * `claude --agent nightshift-manager`.
 */
export function claudeFiles(): KitFile[] {
  return [
    agent(
      'nightshift-manager',
      'Runs a Nightshift shift batch by batch',
      `${READING}, Bash, Agent(nightshift-dev, nightshift-qa)`,
      MANAGER,
    ),
    agent('nightshift-dev', 'Does one task for one item of a Nightshift shift', `${READING}, Write, Edit, Bash`, DEV),
    agent('nightshift-qa', 'Judges one item of a Nightshift shift, and changes nothing', `${READING}, Bash`, QA),
    ...Object.entries(COMMANDS).map(([name, { description, body }]) => skill(name, description, body)),
  ];
}

/** Nobody is asked about commands that change nothing but the shift's own state. The words of the person are counted from 0 there. */
function skill(name: string, description: string, body: string): KitFile {
  const text = name === 'start' ? START : body.replaceAll('$1', '$0');
  const shell = name === 'start' ? ['status', 'batch', 'lesson'] : text.includes('nightshift status') ? ['status'] : [];
  const allowed = shell.map((command) => `Bash(nightshift ${command}:*)`).join(', ');
  const head = [
    `name: nightshift-${name}`,
    `description: ${description}`,
    'disable-model-invocation: true',
    ...(allowed === '' ? [] : [`allowed-tools: ${allowed}`]),
  ];
  return { path: `.claude/skills/nightshift-${name}/SKILL.md`, text: `---\n${head.join('\n')}\n---\n\n${text}\n` };
}

const START = `The shift: $0

First run \`nightshift status $0\`, and say in a few lines what is about to run. In the background, if the person asks for it ($ARGUMENTS has "background") or
nobody is going to watch: \`nightshift start $0 --detach\`, then \`nightshift status $0\` now and then; the engine manages by itself, which costs no
tokens. Say that this way exists. Otherwise you are the manager of this shift, SHIFT is $0, and this is how:

${MANAGER}`;

function agent(name: string, description: string, tools: string, prompt: string): KitFile {
  const head = ['---', `name: ${name}`, `description: ${description}`, `tools: ${tools}`, '---'];
  return { path: `.claude/agents/${name}.md`, text: `${head.join('\n')}\n\n${prompt}\n` };
}
