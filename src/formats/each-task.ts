import { versionOf } from '../core/model/identity.ts';
import { normalizeText, renderEntry } from './entry-text.ts';
import { type Entry, findUnwritten, tryParse } from './task.ts';

/** The task of a shift that `nightshift each` makes, and its status column. */
export const EACH_TASK = 'do';

/** What `nightshift each` is asked to do with every row. */
export interface EachRequest {
  /** The text of `--do`: prose for an agent, a script for one that runs scripts. */
  readonly text: string;
  readonly isScript: boolean;
  /** The scripts of `--check`. Without any, a qa judges. */
  readonly checks: readonly string[];
  /** The columns of `--out`. */
  readonly outputs: readonly string[];
}

const MADE_BY = /^<!-- Made by `nightshift each` \(request ([0-9a-f]+)\)/m;

/** The same for the same request, however its lines end. */
export function requestId({ text, isScript, checks, outputs }: EachRequest): string {
  return versionOf(JSON.stringify([normalizeText(text), isScript, checks.map(normalizeText), outputs]));
}

/** The request that a task file was made for; undefined if `each` did not make it. */
export function readRequestId(text: string): string | undefined {
  return MADE_BY.exec(text)?.[1];
}

/**
 * The task file for a request. Its text becomes exactly one step and each check exactly one criterion, whatever they
 * contain: what Markdown would read as something else goes into a fenced block.
 */
export function createEachTask(request: EachRequest): string {
  for (const isFenced of [false, true]) {
    const text = render(request, isFenced);
    if (isFaithful(text, request, isFenced)) return text;
  }
  throw new Error('the request could not be written as a task file');
}

function render(request: EachRequest, isFenced: boolean): string {
  const { outputs } = request;
  const configuration = outputs.length === 0 ? '' : `\n- outputs: ${outputs.join(', ')}\n`;
  return `# ${EACH_TASK}

<!-- Made by \`nightshift each\` (request ${requestId(request)}). You can edit everything below. -->

## Configuration
${configuration}
## Steps

${step(request, isFenced)}

## Validation

${criteria(request, isFenced).join('\n\n')}
`;
}

const STYLE = { indent: '', delimiter: '.', space: ' ', eol: '\n' };

function step({ text, isScript }: EachRequest, isFenced: boolean): string {
  if (isScript) return renderEntry(`Run this script.\n\n${fenced(text, 'sh')}`, 1, STYLE);
  return renderEntry(isFenced ? `Do what this block says.\n\n${fenced(text, 'text')}` : text, 1, STYLE);
}

function criteria({ text, isScript, checks, outputs }: EachRequest, isFenced: boolean): string[] {
  if (checks.length > 0)
    return checks.map((check, i) => bullet(`${nameOf(check, i, isFenced)}\n\n${fenced(check, 'sh')}`));
  // An agent that runs scripts can't judge: a script that ended with 0 has done what it was asked.
  if (isScript) return [bullet(`The script succeeded\n\n${fenced('true', 'sh')}`)];
  const asked = isFenced ? `\n\n${fenced(text, 'text')}` : ` ${normalizeText(text)}`;
  // A qa knows of what the dev reported only what a criterion names.
  const reported = outputs.map((name) => `\n\nThe reported "${name}": {${name}}`).join('');
  return [bullet(`It was done as asked\n\nThe request:${asked}${reported}`)];
}

/** A short check is its own name: failures then show the command. */
function nameOf(check: string, index: number, isFenced: boolean): string {
  const text = normalizeText(check);
  return isFenced || text.length > LONGEST_NAME || /[`\n]/.test(text) ? `Check ${index + 1}` : `\`${text}\``;
}

const LONGEST_NAME = 100;

function bullet(text: string): string {
  return `- ${text.replace(/\n(?=.)/g, '\n  ')}`;
}

/** The fence is longer than any in the text. */
function fenced(text: string, info: string): string {
  const runs = [...text.matchAll(/`+/g)].map(([run]) => run.length);
  const fence = '`'.repeat(Math.max(2, ...runs) + 1);
  return `${fence}${info}\n${normalizeText(text)}\n${fence}`;
}

/** Whether the file reads back as the request and nothing else. */
function isFaithful(text: string, request: EachRequest, isFenced: boolean): boolean {
  const document = tryParse(text);
  if (!document || findUnwritten(document)) return false;
  const { settings, steps } = document;
  const wanted = criteria(request, isFenced);
  const sources = [...steps, ...document.criteria].map(({ start, end }) => text.slice(start, end));
  if (steps.length !== 1 || sources.join('\0') !== [step(request, isFenced), ...wanted].join('\0')) return false;
  if (settings.map(({ value }) => value).join() !== request.outputs.join(', ')) return false;
  const codes = (entry: Entry) => entry.blocks.map(({ info, code }) => `${info}\n${code}`);
  const { isScript, checks } = request;
  const inStep = isScript ? [codeOf(request.text, 'sh')] : isFenced ? [codeOf(request.text, 'text')] : [];
  const inCriteria =
    checks.length > 0 ? checks.map((check) => codeOf(check, 'sh')) : isScript ? [codeOf('true', 'sh')] : inStep;
  const found = [...codes(steps[0]!), ...document.criteria.flatMap(codes)];
  return found.join('\0') === [...inStep, ...inCriteria].join('\0');
}

function codeOf(text: string, info: string): string {
  return `${info}\n${normalizeText(text)}\n`;
}
