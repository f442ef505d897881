import type { Preview } from '../app/preview-task.ts';
import type { Script, Text } from '../core/model/model.ts';
import { printable } from '../core/text/printable.ts';

/** What the agents get, and the checks; without the environment. */
export function previewLines({ order, judge, sent, checks }: Omit<Preview, 'environment' | 'warnings'>): string[] {
  const lines = workspaceLines(order);
  if ('scripts' in sent) {
    for (const { step, ...script } of sent.scripts)
      lines.push(`--- step ${step}, run by sh -e`, ...scriptLines(script));
  } else {
    lines.push(`--- sent to the dev (${order.settings.agent})`, printable(sent.dev));
    if (sent.qa !== undefined) lines.push(`--- sent to the qa (${judge})`, printable(sent.qa));
  }
  for (const check of checks) lines.push('--- check, run by sh -e after each attempt', ...scriptLines(check));
  return lines;
}

/** Which workspace the row gets, and what happens with the result. */
function workspaceLines({ workspace }: Preview['order']): string[] {
  if (workspace === undefined) return [];
  const { kind, repo, base, branch, setup, delivery } = workspace;
  const told = {
    ...(repo && { repo }),
    ...(kind !== 'copy' && branch && { branch }),
    ...(base && { base }),
    deliver: [delivery.kind, ...(delivery.when === 'approved' ? [', when you approve it'] : [])],
    ...(delivery.into && { into: delivery.into }),
    ...(delivery.message && { message: delivery.message }),
  };
  return [
    `--- workspace: ${kind}`,
    ...Object.entries(told).map(([key, text]) => printable(`${key}: ${byName(text)}`)),
    ...(setup === undefined ? [] : ['--- setup, run in a fresh workspace', ...scriptLines(setup)]),
  ];
}

function byName(text: Text): string {
  return text.map((part) => (typeof part === 'string' ? part : `[${part.env}]`)).join('');
}

function scriptLines({ source, values }: Script): string[] {
  const given = Object.entries(values).map(([name, value]) => {
    return `#   ${name} = ${typeof value === 'string' ? JSON.stringify(value) : `[${value.env}]`}`;
  });
  return [printable(source.replace(/\n$/, '')), ...(given.length > 0 ? ['# with:', ...given.map(printable)] : [])];
}
