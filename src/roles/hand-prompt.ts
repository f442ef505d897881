import type { Order, Text } from '../core/model.ts';
import { devPrompt, qaPrompt } from './prompt.ts';

/**
 * Prompts for agents that Nightshift did not start: they write their own status, with a command whose token their prompt
 * alone holds (rule O4), and their report goes to whoever started them.
 */
export function handedDevPrompt(order: Order, token: string): Text {
  const edit = editCommand(order, token);
  const { attempts } = order.settings;
  const outputs = order.settings.outputs.map((name) => ` --captured ${name}=VALUE`).join('');
  return [
    `Besides what is said below, you write your own status. It is the last thing that you do before your report, in a shell, with one
of these two commands, word for word but for what is in capitals, and nothing else on the line:

When all steps and criteria are right:
  ${edit('qa')}${outputs}
  Add --recommend 'SENTENCE' for each of your recommendations, without apostrophes. The command runs the checks of the task. If it says that one failed,
  that was an attempt: put it right and run it again. There ${attempts === 1 ? 'is 1 attempt' : `are ${attempts} attempts`} in all; it says when there is none left.
When you can't put it right:
  ${edit('failed')} --reason 'WHAT WENT WRONG, WITHOUT APOSTROPHES'

`,
    ...devPrompt(order, { number: 1 }),
  ];
}

export function handedQaPrompt(order: Order, criteria: readonly Text[], token: string): Text {
  const edit = editCommand(order, token);
  return [
    `Besides what is said below, you write your own verdict. It is the last thing that you do before your report, in a shell, with one of
these two commands, word for word but for what is in capitals, and nothing else on the line:

When every criterion is PASS:
  ${edit('done')}
When any is FAIL:
  ${edit('failed')} --reason 'WHICH CRITERION, AND WHY, WITHOUT APOSTROPHES'

`,
    ...qaPrompt(order, criteria),
  ];
}

function editCommand({ shift, task, item }: Order, token: string): (status: string) => string {
  return (status) => `nightshift table ${shift.name} edit ${task} ${item.index} ${status} --token ${token}`;
}
