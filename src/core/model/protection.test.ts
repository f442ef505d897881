import { expect, test } from 'vitest';
import { namesFile } from './protection.ts';

const named = (call: string, path: string) => namesFile(call, '/srv', `/srv/${path}`);

test.each([
  ['{"file_path":"/srv/tests/check.sh"}', 'tests/check.sh'],
  ['{"command":"echo > tests/check.sh"}', 'tests/check.sh'],
  ['{"command":"cd tests && sed -i s/1/0/ ./check.sh"}', 'tests/check.sh'],
  ['{"command":"echo>check.sh"}', 'check.sh'],
  ['{"command":"cat > ./check.sh"}', 'check.sh'],
])('D5 the call %s names %s', (call, path) => {
  expect(named(call, path)).toBe(true);
});

test.each([
  ['{"file_path":"/srv/src/check.sh"}', 'check.sh'],
  ['{"command":"vi other-check.sh"}', 'check.sh'],
  ['{"command":"vi check.sh-old"}', 'check.sh'],
  ['{"file_path":"/srv/src/index.js"}', 'tests/index.js'],
  ['{"command":"npm run tests"}', 'tests/index.js'],
])('D5 the call %s does not name %s', (call, path) => {
  expect(named(call, path)).toBe(false);
});
