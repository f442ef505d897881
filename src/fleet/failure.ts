/** Another session has a lock for longer than `lock_timeout`. */
const LOCKED = '55P03';
/** Errors from a database that restarts, fails over, has no free connections or can't be reached. */
const TRANSIENT_CODES = [
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['ECONNABORTED', 'EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL'],
  // Serialization, deadlock, lock; a standby that is not promoted yet; a transaction that has already failed; a table
  // that is being dropped; a transaction of a process that stood still.
  ...['40001', '40P01', LOCKED, '25006', '25P02', 'XX000', '25P03'],
];
/** SQLSTATE classes: connection, resources, an operator who intervenes, the disk of the server. */
const TRANSIENT_CLASSES = ['08', '53', '57', '58'];
const TRANSIENT_TEXTS =
  /connection terminated|connection ended|read timeout|timeout expired|not queryable|closed the conn|establishing an SSL/i;

interface DatabaseError {
  readonly code?: string;
  readonly syscall?: string;
  readonly message: string;
}

/** Whether a retry may help without any manual fix. */
export function isTransient(error: unknown): boolean {
  const { code = '', syscall, message } = describe(error);
  // The socket file of a server that is restarted.
  if (code === 'ENOENT' && syscall === 'connect') return true;
  if (TRANSIENT_CODES.includes(code) || TRANSIENT_TEXTS.test(message)) return true;
  return /^[0-9A-Z]{5}$/.test(code) && TRANSIENT_CLASSES.includes(code.slice(0, 2));
}

export function isLocked(error: unknown): boolean {
  return describe(error).code === LOCKED;
}

/** The schema, a table or a queue is not there (yet, or any more). */
export function isSchemaMissing(error: unknown): boolean {
  const { code = '', message } = describe(error);
  return (
    ['3F000', '42P01', '42883', '42704', '23503'].includes(code) ||
    isQueueMissing(error) ||
    /not installed/i.test(message)
  );
}

/** pg-boss knows no such queue; the schema is there. */
export function isQueueMissing(error: unknown): boolean {
  return /queue .+ (does not exist|not found)/i.test(describe(error).message);
}

/** One line for people. Node's errors for several addresses have no message. */
export function describeFailure(error: unknown): string {
  if (isSchemaMissing(error)) return 'it has no fleet yet; `nightshift fleet init` or `start --fleet` creates one';
  const { code, message } = describe(error);
  return message || code || 'the database did not answer';
}

function describe(error: unknown): DatabaseError {
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0]);
  return error instanceof Error ? (error as Error & { code?: string }) : { message: String(error) };
}
