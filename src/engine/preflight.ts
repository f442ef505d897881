import { resolve } from 'node:path';
import type { Agent, LaunchContext } from '../agents/agent.ts';
import { NightshiftError } from '../core/model/errors.ts';
import type { Settings } from '../core/model/model.ts';
import { nearest } from '../core/model/names.ts';
import { askedCriteria, qaSettings } from '../core/model/order.ts';
import type { Shift, Task } from '../core/model/shift.ts';
import { createMask } from '../core/text/mask.ts';

/** Checks, before anything is claimed, what the agents of the run need. */
export async function checkAgents(
  shift: Shift,
  find: (name: string) => Agent | undefined,
  known: readonly string[],
  environmentFor: (agent: Agent, task: Task) => Readonly<Record<string, string>>,
): Promise<void> {
  for (const task of shift.tasks) {
    refuseUnwritten(task);
    const { agent: name, qaAgent } = task.settings;
    const agent = requireAgent(task, 'agent', name, find, known);
    const judge = qaAgent === undefined ? agent : requireAgent(task, 'qa-agent', qaAgent, find, known);
    if (agent.runsSteps) requireScripts(task, agent);
    if (!judge.judges) requireChecks(task, judge);
    for (const each of new Set([agent, judge])) {
      await requireProgram(task, each, launchContext(task, shift, environmentFor(each, task)));
    }
  }
}

/**
 * Asks the programs for a login or a model that is certainly missing, without a paid call. This takes seconds, so a run
 * does not do it: its first item would find the same.
 */
export async function checkModels(
  shift: Shift,
  find: (name: string) => Agent | undefined,
  environmentFor: (agent: Agent, task: Task) => Readonly<Record<string, string>>,
): Promise<void> {
  for (const task of shift.tasks) {
    const { agent, qaAgent = agent } = task.settings;
    const askFor = (each: Agent) => async (settings: Settings) => {
      const unusable = await each.unusable?.(settings, launchContext(task, shift, environmentFor(each, task)));
      // The program has the secrets, and may quote them.
      return unusable && createMask(shift.secrets).text(unusable);
    };
    const [dev, judge] = [find(agent)!, find(qaAgent)!];
    await requireModel(task, dev, 'model', askFor(dev));
    if (askedCriteria(task).length > 0) await requireModel(task, judge, 'qa-model', askFor(judge));
  }
}

/** An unedited template is well-formed, but sending it to an agent would waste money. */
export function refuseUnwritten({ name, file, unwritten }: Task): void {
  if (!unwritten) return;
  const message = `${unwritten.what} of ${name} is still the template's`;
  const hint = 'replace the line that begins with "Replace this:"';
  throw new NightshiftError('bad-task', message, hint, { file, line: unwritten.line });
}

/** What a task needs from an agent's program. The qa's settings differ only in what needs no program. */
async function requireProgram(task: Task, agent: Agent, context: LaunchContext): Promise<void> {
  const { name, needs } = agent;
  const lines = { command: task.settings.command, 'acp-command': task.settings.acpCommand };
  if (needs !== undefined && lines[needs] === undefined) {
    throw new NightshiftError(
      'bad-task',
      `${task.name} is for the agent ${name}, but no ${needs} is set`,
      `add \`- ${needs}: LINE\` to its Configuration or to the Shift Configuration`,
      task.place('agent'),
    );
  }
  const missing = await agent.missing(task.settings, context);
  if (missing !== undefined) {
    const other = needs === undefined ? '; `- agent: NAME` chooses another one' : '';
    const message = `the agent of ${task.name} can't be started${other}`;
    throw new NightshiftError('agent-missing', message, missing, task.place(needs ?? 'agent'));
  }
}

async function requireModel(
  task: Task,
  agent: Agent,
  key: 'model' | 'qa-model',
  ask: (settings: Settings) => Promise<string | undefined>,
): Promise<void> {
  const { settings } = task;
  const unusable = await ask(key === 'model' ? settings : qaSettings(settings));
  if (unusable === undefined) return;
  const isSet = (key === 'model' ? settings.model : settings.qaModel) !== undefined;
  const place = task.place(isSet ? key : settings.qaAgent !== undefined && key === 'qa-model' ? 'qa-agent' : 'agent');
  throw new NightshiftError('agent-missing', `the agent ${agent.name} of ${task.name} can't be used`, unusable, place);
}

/** A `working-dir` with placeholders differs from item to item, so relative programs can't be checked yet. */
function launchContext(task: Task, shift: Shift, environment: Readonly<Record<string, string>>): LaunchContext {
  const [only, ...more] = task.workingDir.segments;
  if (more.length > 0 || typeof only !== 'string') return { environment };
  return { folder: resolve(shift.root, only), environment };
}

function requireAgent(
  task: Task,
  key: 'agent' | 'qa-agent',
  name: string,
  find: (name: string) => Agent | undefined,
  known: readonly string[],
): Agent {
  const agent = find(name);
  if (agent) return agent;
  const choice = `agents are: ${known.join(', ')}`;
  const near = nearest(name, known);
  const hint = near ? `did you mean ${near}? ${choice}` : choice;
  const message = `there is no agent ${JSON.stringify(name)} (task ${task.name})`;
  throw new NightshiftError('bad-task', message, hint, task.place(key));
}

/** Rule X3: an agent that runs scripts can't do a step without one. */
function requireScripts(task: Task, { name }: Agent): void {
  const step = task.steps.find(({ scripts }) => scripts.length === 0);
  if (step) {
    throw new NightshiftError(
      'bad-task',
      `step ${step.number} of ${task.name} has no \`sh\` or \`bash\` block, and the agent ${name} runs nothing else`,
      'add a ```sh block with the script below the step',
      { file: task.file, line: step.line },
    );
  }
}

function requireChecks(task: Task, { name }: Agent): void {
  const index = task.criteria.findIndex(({ check }) => check === undefined);
  const criterion = task.criteria[index];
  if (criterion) {
    throw new NightshiftError(
      'bad-task',
      `criterion ${index + 1} of ${task.name} has no check, and the agent ${name} can't judge it`,
      'add a ```sh block below it that fails if the criterion is not met',
      { file: task.file, line: criterion.line },
    );
  }
  if (task.settings.qa === 'always') {
    throw new NightshiftError(
      'bad-task',
      `\`qa: always\` needs an agent that can judge; ${name} can't`,
      'write `qa: auto`, or set another agent',
      task.place('qa'),
    );
  }
}
