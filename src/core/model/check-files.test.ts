import { expect, test } from 'vitest';
import { parseScript } from '../language/shell-template.ts';
import { filesRunBy } from './check-files.ts';

const SCOPE = { file: 'work.md', columns: new Set(['name']), env: new Set<string>() };

function filesIn(code: string): string[] {
  return filesRunBy(parseScript(code, SCOPE, 10)).map(({ anyOf, line }) => `${anyOf.join('|')}:${line}`);
}

test.each([
  ['./check.sh {name}', 'check.sh:10'],
  ['tests/run {name}', 'tests/run:10'],
  ['true\nsh ./check.sh', 'check.sh:11'],
  ['bash -eu tests/a.sh', 'tests/a.sh:10'],
  ['. ./lib.sh; ok', 'lib.sh:10'],
  ['node --no-warnings check.mjs {name}', 'check.mjs:10'],
  ['pytest tests/{name}.py', 'tests/*.py:10'],
  ['python3 check.py < data.json', 'check.py:10'],
  ['python3.12 -m pytest tests/unit::x -q', 'tests/unit:10'],
  ['CI=1 timeout 60 npm test', 'package.json:10'],
  ['env -u X FOO=1 nice -n 5 npm run lint', 'package.json:10'],
  ['cd app && npm test && ./x', 'app/package.json:10 app/x:10'],
  ['npx vitest run', 'package.json:10'],
  ['make -C sub test', 'sub/GNUmakefile|sub/makefile|sub/Makefile:10'],
  ['make -f build.mk', 'build.mk:10'],
  ['pytest -q', 'tests|test|__tests__|spec:10'],
  ['cargo test --all', 'Cargo.toml:10 tests:10'],
  ['if ./a; then ./a || ./b; fi', 'a:10 b:10'],
  ['./gradlew test', 'gradlew:10 build.gradle|build.gradle.kts:10'],
  ['sh < x.sh', 'x.sh:10'],
  ['node --test', 'tests|test|__tests__|spec:10'],
])('X2 the check %j runs %s', (code, files) => {
  expect(filesIn(code).join(' ')).toBe(files);
});

test.each([
  ['grep -q x out.txt && test -x ./tool'],
  ['sh -c "exit 0"'],
  ['python3 -c "print(1)"'],
  ['node -e "process.exit(0)"'],
  ['/usr/bin/check {name}'],
  ['../outside.sh'],
  ['"$HOME/bin/x"'],
  ['sh "$script"'],
  ['npm ci'],
  ['cargo --version'],
  ['curl -fsS https://example.org/{name} > page.html'],
  ['cd "$dir" && ./x'],
])('X2 the check %j runs no file of the working folder that can be told', (code) => {
  expect(filesIn(code)).toEqual([]);
});
