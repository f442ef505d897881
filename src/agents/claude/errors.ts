import type { Trouble } from '../../core/model/model.ts';
import type { Answer } from '../agent.ts';
import { lastJsonObject } from '../last-json.ts';
import { howItEnded, type ProcessResult } from '../process/process.ts';
import type { ClaudeStream, Ending } from './stream.ts';

type StreamFacts = Pick<ClaudeStream, 'inForce' | 'ending' | 'error' | 'limitEnds' | 'said'>;

export const INSTALL = 'install it (npm install -g @anthropic-ai/claude-code), and put it on PATH';
export const LOG_IN = 'run `claude auth login`, or set ANTHROPIC_API_KEY';

/** Exit codes of the shell that starts a program. */
const NOT_THERE = new Set([126, 127]);

/** Reads the result of a run that was not aborted. */
export function readAnswer(ended: Exclude<ProcessResult, { kind: 'aborted' }>, told: StreamFacts): Answer {
  if (ended.kind === 'not-started') {
    return ended.fault === 'system' ? trouble(ended.reason) : { kind: 'failed', reason: ended.reason };
  }
  if (told.ending === undefined) return readDeath(ended, told);
  return told.ending.isError ? readError(told.ending, told) : readReport(told.ending, told);
}

/** It ended without a result. Before the session began, that is not the item's fault (rule X5). */
function readDeath(
  ended: Exclude<ProcessResult, { kind: 'aborted' | 'not-started' }>,
  { inForce }: StreamFacts,
): Answer {
  const end = howItEnded(ended, 'stderr');
  if (inForce !== undefined) return { kind: 'failed', reason: `claude ended before its turn did: ${end}` };
  if (ended.kind === 'exited' && NOT_THERE.has(ended.code)) return trouble(`claude can't be run: ${end}`, INSTALL);
  return trouble(`claude did not start: ${end}`);
}

/**
 * `structured_output` may be missing although all went well: then the model wrote text instead of calling the tool.
 * The program urged it to call the tool, so the report may be before its last words.
 */
function readReport({ structured, text, denied }: Ending, { said }: StreamFacts): Answer {
  const report = structured ?? lastJsonObject(text) ?? lastJsonObject(said);
  if (report !== undefined && report !== null) return { kind: 'report', report };
  if (denied.length > 0) {
    const tools = [...new Set(denied)].join(', ');
    return { kind: 'no-report', reason: `it was denied ${tools}, and gave no report` };
  }
  const reason = text.trim() === '' ? 'it ended its turn and said nothing' : 'its answer has no JSON object';
  return { kind: 'no-report', reason };
}

/** What you can do about it, by the program's error names. Other errors are no trouble of this kind. */
const ERRORS: Readonly<Record<string, (ending: Ending, told: StreamFacts) => Trouble>> = {
  authentication_failed: notLoggedIn,
  oauth_org_not_allowed: notLoggedIn,
  account_on_hold: notLoggedIn,
  verification_required: notLoggedIn,
  cloud_credential_error: (ending) => ({
    reason: `claude has no valid credentials for its cloud: ${ending.text}`,
    remedy: 'renew them; those that are variables have to be named by `pass-env`',
  }),
  billing_error: (ending) => ({
    reason: `claude can't be paid: ${ending.text}`,
    remedy: 'add credit to the account, or log in with another one',
  }),
  model_not_found: (ending) => ({
    reason: `claude: no such model${http(ending)}`,
    remedy: 'correct `model:` (a name such as sonnet or opus, or a full one), or ask for access to it',
  }),
  rate_limit: limited,
  overloaded: (ending) => ({ reason: `claude: the model is overloaded${http(ending)}` }),
  server_error: (ending) => ({
    reason: ending.status === undefined ? `claude: ${ending.text}` : `claude: the model's server failed${http(ending)}`,
  }),
};

function readError(ending: Ending, told: StreamFacts): Answer {
  const find = told.error !== undefined && Object.hasOwn(ERRORS, told.error) ? ERRORS[told.error] : undefined;
  if (find !== undefined && ending.kind !== 'max_output_tokens') {
    return { kind: 'trouble', trouble: find(ending, told) };
  }
  if (ending.subtype === 'error_max_structured_output_retries') {
    return { kind: 'no-report', reason: 'its reports did not have the required form' };
  }
  const reason = ending.text === '' ? `${ending.subtype} (${ending.why})` : ending.text;
  return { kind: 'failed', reason: `claude: ${reason}` };
}

function notLoggedIn(ending: Ending): Trouble {
  return { reason: `claude is not logged in${http(ending)}: ${ending.text}`, remedy: LOG_IN };
}

function limited(ending: Ending, { limitEnds }: StreamFacts): Trouble {
  if (limitEnds === undefined) return { reason: `claude: rate limited${http(ending)}` };
  return { reason: `claude: ${ending.text}`, until: limitEnds };
}

function http({ status }: Ending): string {
  return status === undefined ? '' : ` (HTTP ${status})`;
}

function trouble(reason: string, remedy?: string): Answer {
  return { kind: 'trouble', trouble: { reason, ...(remedy === undefined ? {} : { remedy }) } };
}
