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

export function exampleShiftLines({ paths, rows, tasks, agent, sample, files }: ExampleShift): string[] {
  const [first = ''] = tasks;
  const { name, folder } = paths;
  return [
    `${name} is in ${folder}`,
    `  ${count(rows, 'row')}, ${count(tasks.length, 'task')} (${tasks.join(', ')}), agent ${agent}`,
    `  sample data: ${sample}/ (${count(files.length, 'file')}); read ${sample}/README.md first`,
    `Next: \`nightshift test-task ${name} ${first} --row 1\` tries one row, \`nightshift start ${name}\` runs them all.`,
  ];
}
