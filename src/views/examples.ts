import type { Example, ExampleShift } from '../app/examples.ts';
import { count } from '../core/text/count.ts';

export function exampleListLines(examples: readonly Example[]): string[] {
  const width = Math.max(...examples.map(({ name }) => name.length));
  return [
    ...examples.map(({ name, summary }) => `${name.padEnd(width)}  ${summary}`),
    '',
    '`nightshift create NAME --example WHICH` starts from one of them.',
  ];
}

export function exampleShiftLines({ paths, rows, tasks, agent, needs, sample, files }: ExampleShift): string[] {
  const [first = ''] = tasks;
  const { name, folder } = paths;
  return [
    `${name} is in ${folder}`,
    `  ${count(rows, 'row')}, ${count(tasks.length, 'task')} (${tasks.join(', ')}), agent ${agent}`,
    `  sample data: ${sample}/ (${count(files.length, 'file')}); read ${sample}/README.md first`,
    ...(needs === undefined ? [] : [missingLine(name, agent, needs)]),
    `Next: \`nightshift test-task ${name} ${first} --row 1\` tries one row, \`nightshift start ${name}\` runs them all.`,
  ];
}

function missingLine(shift: string, agent: string, key: string): string {
  return `Missing: the program of the agent ${agent}. Add \`- ${key}: LINE\` with \`nightshift edit ${shift} manager\`.`;
}
