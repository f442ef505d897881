import type { ServerResponse } from 'node:http';
import { type ErrorCode, NightshiftError, placedMessage } from '../core/model/errors.ts';
import { systemError } from '../core/model/system-errors.ts';
import type { ErrorAnswer } from '../core/page/answers.ts';
import type { Refusal } from './guard.ts';

const STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  usage: 400,
  'bad-name': 400,
  'not-found': 404,
  'inside-agent': 403,
  'bad-manager': 422,
  'bad-table': 422,
  'bad-task': 422,
  'bad-env': 422,
  'bad-lessons': 422,
  'bad-placeholder': 422,
  'bad-folder': 422,
  'bad-transition': 409,
  'nothing-to-do': 409,
  'already-running': 409,
  'agent-missing': 422,
  locked: 409,
  'no-answer': 503,
  disk: 503,
  resources: 503,
};

/** For every answer: no other page may frame it, read it, or learn where a link leads from. There is never CORS. */
export const SAFETY: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** `more`: what the document itself may load. */
export function contentPolicy(more?: string): Readonly<Record<string, string>> {
  const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  return { 'Content-Security-Policy': more === undefined ? nothing : `${nothing}; ${more}` };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  send(response, status, JSON.stringify(body), { 'Content-Type': 'application/json; charset=utf-8', ...headers });
}

/** For people who see it in a browser, and for the page as an `ErrorAnswer`. */
export function sendRefusal(response: ServerResponse, { status, code, message, hint, headers = {} }: Refusal): void {
  const body: ErrorAnswer = { error: { code, message, ...(hint === undefined ? {} : { hint }) } };
  sendJson(response, status, body, headers);
}

/**
 * The error of one request, for its client; the server goes on. Wrong input, and what the system refused, say what to
 * do; a bug shows its stack on standard error.
 */
export function sendError(response: ServerResponse, thrown: unknown, warn: (line: string) => void): void {
  const error = systemError(thrown) ?? thrown;
  if (response.headersSent) response.end();
  if (!(error instanceof NightshiftError)) {
    warn(
      `This is a bug in Nightshift. Nothing that was recorded is lost.\n${(error as Error)?.stack ?? String(error)}`,
    );
    const message = `this is a bug in Nightshift: ${error instanceof Error ? error.message : String(error)}`;
    if (!response.headersSent) sendJson(response, 500, { error: { code: 'bug', message } } satisfies ErrorAnswer);
  } else if (!response.headersSent) {
    const { code, hint } = error;
    const body: ErrorAnswer = {
      error: { code, message: placedMessage(error), ...(hint === undefined ? {} : { hint }) },
    };
    sendJson(response, STATUS_OF[code], body);
  }
}

function send(response: ServerResponse, status: number, body: string, headers: Readonly<Record<string, string>>): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, {
    ...SAFETY,
    ...contentPolicy(),
    'Cache-Control': 'no-store',
    ...headers,
    'Content-Length': bytes.length,
  });
  response.end(response.req.method === 'HEAD' ? undefined : bytes);
}
