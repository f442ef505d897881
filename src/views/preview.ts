import type { Preview } from '../app/preview-task.ts';
import type { Script } from '../core/model/model.ts';
import { printable } from '../core/text/printable.ts';

/** What the agents get, and the checks; without the environment. */
export function previewLines({ order, judge, sent, checks }: Omit<Preview, 'environment' | 'warnings'>): string[] {
  const lines: string[] = [];
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

function scriptLines({ source, values }: Script): string[] {
  const given = Object.entries(values).map(([name, value]) => {
    return `#   ${name} = ${typeof value === 'string' ? JSON.stringify(value) : `[${value.env}]`}`;
  });
  return [printable(source.replace(/\n$/, '')), ...(given.length > 0 ? ['# with:', ...given.map(printable)] : [])];
}
