import { NightshiftError } from '../../core/model/errors.ts';
import { describeFailure } from '../../fleet/failure.ts';

const CERTIFICATE = /certificate|CERT_|self.signed|altname/i;
const TLS = /SSL|TLS|no encryption/i;
const NOT_ALLOWED =
  '`start` and `fleet stop` need the address of `nightshift_owner`, which `nightshift fleet init` prints. `fleet init` ' +
  'needs a role that owns the database and can create roles';

/** A database that can't be used is wrong input: the cause, and how to fix it. Other errors stay as they are. */
export function explainDatabaseError(error: unknown): unknown {
  if (error instanceof NightshiftError || !(error instanceof Error)) return error;
  const reason = describeFailure(error);
  const { code = '' } = error as { code?: string };
  if (code === '' && !/connect|timeout|server|SSL|TLS|certificate/i.test(reason)) return error;
  const hint = hintFor((error as { syscall?: string }).syscall === 'connect' ? '' : code, reason);
  return new NightshiftError('usage', `the fleet's database can't be used: ${reason}`, hint);
}

function hintFor(code: string, reason: string): string {
  if (CERTIFICATE.test(`${code} ${reason}`)) {
    return "add &sslrootcert=FILE with the server's CA certificate, and use the host name that the certificate is for";
  }
  if (/does not support SSL/i.test(reason)) return 'turn on TLS on the server, or omit sslmode for a local server';
  if (TLS.test(reason)) return 'the server requires TLS: add ?sslmode=verify-full to the address';
  if (code.startsWith('28') || /SASL|password/i.test(reason)) {
    return 'check the user and the password; `nightshift fleet init` sets new passwords and prints the addresses';
  }
  if (code === 'ENOENT' || code === 'EACCES') return 'correct sslrootcert, sslcert and sslkey in the address';
  if (code === '53100') return 'free some space on the disk of the server';
  if (code === '25006') return 'this server is a standby, or read-only: use the address of the primary';
  if (code === '53300') return "raise the server's max_connections or the role's limit, or stop idle clients";
  if (code === '3D000') return 'check the name of the database at the end of the address';
  if (code === '42501') return NOT_ALLOWED;
  return 'check the host and the port, and that the server is running: `psql URL` must connect';
}
