import { randomBytes } from 'node:crypto';
import { NightshiftError } from '../core/model/errors.ts';
import { type LimitKey, type LimitSettings, readLimits } from '../core/schedule/budget.ts';
import { selectionFlags } from '../core/schedule/selection.ts';
import type { AgentOptions, LimitOptions, RetryOptions, RunOptions } from './api.ts';
import { adaptAgents } from './custom-agent.ts';
import type { RetrySettings } from './retry.ts';
import type { RunSettings } from './run/plan-run.ts';
import { parseSample } from './select-rows.ts';

/** The options of a library caller, as a run takes them. */
export function readRunOptions(options: RunOptions): RunSettings {
  const { task, rows, where = {}, seed } = options;
  const size = options.sample === undefined ? undefined : String(options.sample);
  const conditions = Object.entries(where).map(([column, value]) => ({ column, value }));
  const selection = {
    task,
    rows,
    where: conditions.length === 0 ? undefined : conditions,
    sample: parseSample(size, seed, () => randomBytes(4).toString('hex')),
  };
  const flags = [...agentFlags(options), ...selectionFlags(selection), ...limitFlags(options.limits)];
  return { ...readAgentOptions(options), ...selection, request: { command: 'start', flags } };
}

/** The options of a retry. Its flags are those of the command that continues it. */
export function readRetryOptions(options: RetryOptions): RetrySettings {
  const { task, rows, reason } = options;
  const flags = [...agentFlags(options), ...selectionFlags({ task, rows }), ...word('reason', reason)];
  return { ...readAgentOptions(options), task, rows, reason, flags };
}

/** What asks for the same retry on the command line. */
export function retryRequest({ flags }: RetrySettings, { limits }: RetryOptions): Required<RunSettings>['request'] {
  return { command: 'retry', flags: [...flags, ...limitFlags(limits)] };
}

function readAgentOptions({ agent, model, agents = [], limits = {} }: AgentOptions) {
  return { agent, model, agents: adaptAgents(agents), limits: readLimitOptions(limits) };
}

function agentFlags({ agent, model }: AgentOptions): string[] {
  return [...word('agent', agent), ...word('model', model)];
}

function limitFlags(limits: LimitOptions = {}): string[] {
  return Object.entries(limitTexts(limits)).flatMap(([key, text]) => word(key, text));
}

function word(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`--${name}=${value}`];
}

const LIMIT_NAMES: Readonly<Record<LimitKey, keyof LimitOptions>> = {
  'max-cost': 'maxCost',
  'max-tokens': 'maxTokens',
  'max-duration': 'maxDuration',
  until: 'until',
  'max-failures': 'maxFailures',
  'max-same-failures': 'maxSameFailures',
};

function readLimitOptions(limits: LimitOptions): LimitSettings {
  const texts = limitTexts(limits);
  return readLimits(
    (key) => texts[key],
    (key, problem, hint) =>
      new NightshiftError('usage', `limits.${LIMIT_NAMES[key]} ${JSON.stringify(texts[key])} ${problem}`, hint),
  );
}

function limitTexts(limits: LimitOptions): Partial<Record<LimitKey, string>> {
  const entries = Object.entries(LIMIT_NAMES).flatMap(([key, name]) => {
    const value = limits[name];
    if (value === undefined) return [];
    return [[key, value instanceof Date ? value.toISOString() : String(value)]];
  });
  return Object.fromEntries(entries);
}
