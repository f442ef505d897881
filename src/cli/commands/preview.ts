import { environmentNames, itemEnvironment, variablesToTell } from '../../agents/environment.ts';
import { AgentSet } from '../../agents/registry.ts';
import { findTask } from '../../app/find-task.ts';
import { readHistory } from '../../app/history.ts';
import { openAndCheck } from '../../app/open-shift.ts';
import { parseRow } from '../../app/rows.ts';
import { unprotectedFiles, unprotectedLine } from '../../app/run/unprotected-files.ts';
import { EXIT } from '../../core/model/errors.ts';
import type { Order, Text } from '../../core/model/model.ts';
import { askedCriteria, makeOrder } from '../../core/model/order.ts';
import type { Overrides } from '../../formats/compile.ts';
import { devPrompt, qaPrompt } from '../../roles/prompt.ts';
import { openShift } from '../../store/folder/layout.ts';
import { oneLine, printable } from '../../views/printable.ts';
import { requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name = '', task = '']: readonly string[], options: Options): Promise<number> {
  const { row, agent, model } = options;
  const { warnings, order, judge, sent, checks, environment } = await preview(io, name, task, row, { agent, model });
  for (const warning of warnings) io.warn(`warning: ${oneLine(warning)}`);
  if (options.json) {
    const { index } = order.item;
    io.print(JSON.stringify({ shift: name, task, index, agent: order.settings.agent, ...sent, checks, environment }));
    return EXIT.done;
  }
  for (const line of previewLines({ order, judge, sent, checks })) io.print(line);
  io.print(`--- environment given (names): ${environment.given.join(', ')}`);
  io.print(`--- environment withheld (names): ${environment.withheld.join(', ') || 'none'}`);
  return EXIT.done;
}

interface Preview {
  readonly order: Order;
  /** The agent of the qa. */
  readonly judge: string;
  readonly sent: Sent;
  readonly checks: readonly { source: string; values: object }[];
  readonly environment: ReturnType<typeof environmentNames>;
  readonly warnings: readonly string[];
}

/** What would be sent for one row (1-based), byte for byte but for secrets. */
export async function preview(
  io: Io,
  name: string,
  taskName: string,
  row: string,
  overrides: Overrides = {},
): Promise<Preview> {
  const paths = openShift(requireRoot(io), name);
  const { shift, snapshot } = await openAndCheck(paths, overrides);
  const task = findTask(shift, taskName);
  const index = parseRow(row, snapshot.count);
  const item = { id: snapshot.id(index), index, metadata: snapshot.metadata(index) };
  const lastFailure = (await readHistory(paths, io)).of(taskName, item.id)?.failure;
  const dev = makeOrder(shift, task, { role: 'dev', item, token: '', lastFailure });
  const qa = makeOrder(shift, task, { role: 'qa', item, token: '' });
  const asked = askedCriteria(qa).map(({ text }) => text);
  const agent = new AgentSet().find(dev.settings.agent);
  const own = itemEnvironment(dev, 1, 'a file for captured values');
  const environment = environmentNames({
    caller: io.env,
    passEnv: [...(agent?.credentials ?? []), ...dev.settings.passEnv],
    secrets: shift.secrets,
    own,
  });
  const variables = variablesToTell(agent, dev.settings.tools, own);
  const sent: Sent = agent?.runsSteps
    ? { scripts: dev.steps.flatMap(({ number, scripts }) => scripts.map((script) => ({ step: number, ...script }))) }
    : {
        dev: masked(devPrompt(dev, { number: 1, ...variables })),
        ...(asked.length > 0 ? { qa: masked(qaPrompt(qa, asked)) } : {}),
      };
  const checks = dev.criteria.flatMap(({ check }) => (check ? [check] : []));
  const unprotected = await unprotectedFiles(io, paths, { shift: { ...shift, tasks: [task] }, snapshot }, index);
  const warnings = [...shift.warnings, ...unprotected.map(unprotectedLine)];
  return { order: dev, judge: qa.settings.agent, sent, checks, environment, warnings };
}

type Sent =
  | { scripts: { step: number; source: string; values: Order['steps'][number]['scripts'][number]['values'] }[] }
  | { dev: string; qa?: string };

export function previewLines({
  order,
  judge,
  sent,
  checks,
}: Pick<Preview, 'order' | 'judge' | 'sent' | 'checks'>): string[] {
  const lines: string[] = [];
  if ('scripts' in sent) {
    for (const { step, source, values } of sent.scripts)
      lines.push(`--- step ${step}, run by sh -e`, ...script(source, values));
  } else {
    lines.push(`--- sent to the dev (${order.settings.agent})`, printable(sent.dev));
    if (sent.qa !== undefined) lines.push(`--- sent to the qa (${judge})`, printable(sent.qa));
  }
  for (const { source, values } of checks)
    lines.push('--- check, run by sh -e after each attempt', ...script(source, values));
  return lines;
}

function script(source: string, values: object): string[] {
  const given = Object.entries(values).map(([name, value]) => {
    return `#   ${name} = ${typeof value === 'string' ? JSON.stringify(value) : `[${value.env}]`}`;
  });
  return [printable(source.replace(/\n$/, '')), ...(given.length > 0 ? ['# with:', ...given.map(printable)] : [])];
}

/** Byte for byte what is sent, but for the values of secrets. */
function masked(text: Text): string {
  return text.map((part) => (typeof part === 'string' ? part : `[${part.env}]`)).join('');
}
