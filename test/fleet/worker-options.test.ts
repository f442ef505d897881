import { expect, test } from 'vitest';
import { newSigningKey, signerFrom } from '../../src/fleet/signature.ts';
import { Project } from '../harness.ts';

const KEY = signerFrom(newSigningKey()).publicKey;
const URL = 'postgres://127.0.0.1:1/none';

test.each<[string[], RegExp]>([
  [['--slots', '0'], /--slots "0" is not a number from 1 to 1000\n.*--slots 8/],
  [['--key', 'short'], /--key is not the public key of a coordinator\n.*fleet init/],
  [['--roles', 'dev,cook'], /unknown role "cook"\n.*dev, qa, manager/],
  [['--for', 'soon'], /--for "soon" is not a time\n.*5h30m/],
  [['--for', '30m', '--grace', '1h'], /--for 30m leaves no time for orders.*\n.*--grace shorter/],
  [['--url', 'postgres://me:50%off@127.0.0.1/none'], /is not a PostgreSQL URL\n.*%25 for a %/],
  [['--url', `${URL}?sslmode=verify-full&sslrootcert=nowhere.pem`], /nowhere\.pem.*\n.*correct sslrootcert/],
  [['--secrets', 'NOT_SET_ANYWHERE'], /--secrets names NOT_SET_ANYWHERE, but it is not set\n/],
  [['--root', 'nowhere'], /--root .*nowhere is not a folder\n.*mount the volume/],
])('a worker refuses %j with the cause and the fix, and exit code 2', async (args, expected) => {
  const project = new Project();
  const env = { XDG_STATE_HOME: project.path('state') };
  const { code, stderr } = await project.run(['worker', '--url', URL, '--key', KEY, ...args], { env });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(expected) });
});
