import { findBash } from '../../agents/process/shells.ts';
import type { AgentTraits } from '../../core/model/agent-traits.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import type { Task } from '../../core/model/shift.ts';

/** A `bash` block never runs in another shell. */
export function requireBash(task: Task, { runsSteps }: Pick<AgentTraits, 'runsSteps'>, find = findBash): void {
  const ofSteps = runsSteps ? task.steps.flatMap(({ scripts }) => scripts) : [];
  const script = [...ofSteps, ...task.criteria.flatMap(({ check }) => check ?? [])].find(
    ({ shell }) => shell === 'bash',
  );
  if (script === undefined || find() !== undefined) return;
  const message = `a \`\`\`bash block of ${task.name} can't run: there is no bash on this machine`;
  const hint = 'install bash, or write ```sh and use only what sh has';
  throw new NightshiftError('agent-missing', message, hint, { file: task.file, line: script.line - 1 });
}
