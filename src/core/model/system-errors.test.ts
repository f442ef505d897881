import { expect, test } from 'vitest';
import { NightshiftError } from './errors.ts';
import { isTransient, systemError } from './system-errors.ts';

const refused = (code: string, more: object = {}) => Object.assign(new Error(`${code}: refused`), { code, ...more });

test('what the system refuses has a cause, a place, what to do and an exit code, and is no bug', () => {
  for (const code of ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']) {
    const error = systemError(refused(code, { path: '/s/table.csv' }));
    expect(error).toMatchObject({ code: 'resources', exitCode: 4, file: '/s/table.csv', hint: expect.any(String) });
    expect(error?.message).toContain(code);
  }
  for (const code of ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'EIO', 'ESTALE', 'ELOOP']) {
    expect(systemError(refused(code), '/s/table.csv')).toMatchObject({ exitCode: 2, file: '/s/table.csv' });
  }
  const gone = systemError(refused('ENOENT', { syscall: 'uv_cwd' }));
  expect(gone?.message).toBe('the current folder is gone');
});

test('anything else stays what it is', () => {
  for (const thrown of [
    new TypeError('x is not a function'),
    refused('toString'),
    refused('ERR_X'),
    undefined,
    'text',
  ]) {
    expect(systemError(thrown)).toBeUndefined();
  }
  expect(systemError(new NightshiftError('disk', 'full'))).toBeUndefined();
});

test('what there is none left of just now passes; what is not there does not', () => {
  expect(['EMFILE', 'EAGAIN', 'EINTR', 'ENOMEM'].map((code) => isTransient(refused(code)))).toEqual(
    Array(4).fill(true),
  );
  expect(isTransient(systemError(refused('ENFILE')))).toBe(true);
  expect(['ENOENT', 'ENOSPC', 'EACCES'].some((code) => isTransient(refused(code)))).toBe(false);
});
