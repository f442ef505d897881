// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the subject
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fillScript, parseScript, renderForReader } from './shell-template.ts';
import { resolveText, type Scope } from './template.ts';

const shift = { FOLDER: '/s/pages', NAME: 'pages', TABLE: '/s/pages/table.csv' };
const shells = ['sh', 'dash', 'bash'].filter((shell) => spawnSync(shell, ['-c', ':']).status === 0);

/** How many values each context gets. One script for many: starting a shell takes longer than all else. */
const COPIES = 8;
/** A context, and what it prints. What is between « and » comes once for each value, with the value in place of `@`. */
const CONTEXTS: [script: string, printed: string][] = [
  [`«printf '%s|' @\n»`, '«@|»'],
  [`«printf '%s|' pre@post@\n»`, '«pre@post@|»'],
  [`«printf '%s|' "out/@.html"\n»`, '«out/@.html|»'],
  [`«printf '%s|' '{"k": "@"}'\n»`, '«{"k": "@"}|»'],
  [`«printf '%s|' "it's"@'"'\n»`, `«it's@"|»`],
  [`«printf '%s|' \\\\@ "\\\\@" '\\@'\n»`, '«\\@|\\@|\\@|»'],
  [`cat <<EOF\n«@\n»EOF`, '«@\n»'],
  [`cat <<EOF\n«E@\n'@' "@"\n»EOF`, `«E@\n'@' "@"\n»`],
  [`cat <<-EOF\n«\t@|\n\t@\n»\tEOF`, '«@|\n@\n»'],
  [`cat <<A; cat <<-B\n«@\n»A\n«\t<@>\n»\tB`, '«@\n»«<@>\n»'],
  [`cat <<EOF\n$(printf '%s.'« '@' "@" @»)\nEOF`, '«@.@.@.»\n'],
  [`cat <<-EOF\n$(printf '%s.'« '\n@\n' "\n@\n" \\\n@»)\nEOF`, '«\n@\n.\n@\n.@.»\n'],
  [`x=$(printf '%s.'« @»); printf %s "$x"`, '«@.»'],
  [`printf %s "<$(printf '%s.'« "@" '@' @»)>"`, '<«@.@.@.»>'],
  [`printf %s "$(cat <<EOF\n<«\n@.»\nEOF\n)"`, '<«\n@.»'],
  [`x=1; printf '%s|'« $x@ "$x@" "$x@@"»`, '«1@|1@|1@@|»'],
  [`x=1; cat <<EOF\n«$x@$#@\n»EOF`, '«1@0@\n»'],
  [`«case @ in\n  never=*) echo no ;;\n  @) printf %s "$(case x in x) printf %s. @ ;; esac)" ;;\nesac\n»`, '«@.»'],
  [`sh -c 'printf "%s|" "$@"' sh« @»`, '«@|»'],
  [`f() { printf '%s|' "$1"; } # it's« @»\n( («f @; ») | cat )`, '«@|»'],
  [`«y=@; export z=@; printf '%s%s|' "$y" "$z"\n»`, '«@@|»'],
  [`«for w in @; do\n  if [ @ = "$w" ]; then printf '%s|' \\\n    "$w"; fi\ndone\n»`, '«@|»'],
];
const columns = CONTEXTS.map((_, context) => Array.from({ length: COPIES }, (_, copy) => `Column ${context} ${copy}!`));
const scope: Scope = {
  columns: new Set([...columns.flat(), 'x', 'y']),
  env: new Set(['API_KEY']),
  file: 'create_page.md',
};
/** After each context there is a NUL, which no value can have. */
const block = CONTEXTS.map(([script], context) => {
  const placeholders = columns[context]!.map((column) => `{${column}}`);
  return `${expand(script, placeholders)}\nprintf '\\0'`;
}).join('\n');

function expand(text: string, values: readonly string[]): string {
  return text.replace(/«([^»]*)»/g, (_, each: string) => values.map((v) => each.replaceAll('@', () => v)).join(''));
}

// biome-ignore format: a list to read at a glance
const nasty = fc.constantFrom(
  "'", '"', '`', '\\', '$', '\n', '\t', ' ', ';', '&', '|', '*', '?', '~', '#', '!', '-', '(', ')', '{', '}', '=', '@', '[',
  '$(touch canary)', '`touch canary`', ';touch canary;', '\ntouch canary\n', "'$(touch canary)'", '${x:=$(touch canary)}',
  '{ENV:API_KEY}', '{x}', '{{x}}', '$API_KEY', '-c', '-n', 'EOF', 'OF', 'A', 'B', 'a', 'ü', '💥', '\r', '\x01', '%s', '\\0',
);
const cell = fc.oneof(
  { weight: 3, arbitrary: fc.array(nasty, { maxLength: 8 }).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.replaceAll('\0', '')) },
);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightshift-shell-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(shell: string, source: string, env: Record<string, string> = {}): string[] {
  const environment = { PATH: process.env.PATH, ...env };
  // On standard input, since a command line has less room; `-e` as the engine does (rule X2).
  const printed = execFileSync(shell, ['-e'], { cwd: folder, env: environment, input: source, encoding: 'utf8' });
  return printed.split('\0').slice(0, -1);
}

describe('placeholders in shell blocks', () => {
  test(`V4 S2 in every context the value arrives as it is, and nothing in it runs (${shells.join(', ')})`, () => {
    const template = parseScript(block, scope, 1);
    const cells = fc.tuple(...CONTEXTS.map(() => fc.array(cell, { minLength: COPIES, maxLength: COPIES })));
    // What random cells rarely are: all, a part or the beginning of a delimiter, and what dash loses bytes of.
    const special = ['', 'EOF', 'OF', 'EOF)', 'A\nEOF\nB', 'O💥', '\tEOF', '\\\n'];
    const examples = shells.map((shell): [string[][], string] => [CONTEXTS.map(() => special), shell]);
    fc.assert(
      fc.property(cells, fc.constantFrom(...shells), (rows, shell) => {
        const byColumn = rows.flatMap((row, context) => row.map((value, copy) => [columns[context]![copy]!, value]));
        const values = { columns: Object.fromEntries(byColumn), shift };
        const expected = CONTEXTS.map(([, printed], context) => expand(printed, rows[context]!));
        const script = fillScript(template, values);
        expect(run(shell, script.source, script.values as Record<string, string>)).toEqual(expected);
        // The reader of a prompt knows the values that only a reference stands for.
        const read = resolveText(renderForReader(template, values), {});
        expect(run(shell, read, script.values as Record<string, string>)).toEqual(expected);
        expect(readdirSync(folder)).toEqual([]);
      }),
      { numRuns: Number(process.env.NIGHTSHIFT_FUZZ ?? 20), examples },
    );
  });

  test('V4 a secret is a name in the script, and a reference to its variable for a reader', () => {
    const text = `printf '%s\\0' {ENV:API_KEY} "<{ENV:API_KEY}>" '<{ENV:API_KEY}>'\ncat <<EOF\n{ENV:API_KEY}\nEOF\nprintf '\\0'`;
    const template = parseScript(text, scope, 7);
    const script = fillScript(template, { columns: {}, shift });
    expect(script).toMatchObject({ line: 7, values: { NIGHTSHIFT_V_ENV_API_KEY: { env: 'API_KEY' } } });
    const secret = `s'"$(touch canary)\n`;
    const printed = [secret, `<${secret}>`, `<${secret}>`, `${secret}\n`];
    expect(run('sh', script.source, { NIGHTSHIFT_V_ENV_API_KEY: secret })).toEqual(printed);
    expect(run('sh', resolveText(renderForReader(template, { columns: {}, shift }), {}), { API_KEY: secret })).toEqual(
      printed,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test('V4 S3 for a reader it is indented as its fence is, and a value that would change the text around it is a reference', () => {
    const template = parseScript('a\n\n  b {x}\ncat <<EOF\n{y}\nEOF\n', scope, 1);
    const reader = (x: string, y: string) => renderForReader(template, { columns: { x, y }, shift }, '   ');
    expect(reader("it's", '$x')).toEqual(["   a\n\n     b 'it'\\''s'\n   cat <<EOF\n   \\$x\n   EOF\n"]);
    expect(reader('1\n```', '~~~')).toEqual([
      '   a\n\n     b "${NIGHTSHIFT_V_x}"\n   cat <<EOF\n   ${NIGHTSHIFT_V_y}\n   EOF\n',
    ]);
    expect(reader('1', 'a b')).toEqual(["   a\n\n     b '1'\n   cat <<EOF\n   a b\n   EOF\n"]);
  });

  test('V4 variables are readable and differ where the columns do', () => {
    const similar = { ...scope, columns: new Set(['a b', 'a-b', 'größe', 'ENV_API_KEY']) };
    const template = parseScript('echo {a b} {a-b} {größe} {ENV_API_KEY} {ENV:API_KEY} {a b}', similar, 1);
    const { values } = fillScript(template, {
      columns: { 'a b': '1', 'a-b': '2', größe: '3', ENV_API_KEY: '4' },
      shift,
    });
    expect(values).toEqual({
      NIGHTSHIFT_V_a_b: '1',
      NIGHTSHIFT_V_a_b_2: '2',
      NIGHTSHIFT_V_gr_e: '3',
      NIGHTSHIFT_V_ENV_API_KEY: '4',
      NIGHTSHIFT_V_ENV_API_KEY_2: { env: 'API_KEY' },
    });
  });

  test('V4 where a reference cannot be right it is an error that says what to write', () => {
    // biome-ignore format: a list to read at a glance
    const refused: Record<string, string[]> = {
      'quotes off': [`cat <<'EOF'\n{x}\nEOF`, 'cat <<"EOF"\n{x}\nEOF', 'cat <<\\EOF\n{x}\nEOF', "cat <<-E'O'F\n\t{x}\n\tEOF"],
      'fixed word': ['cat <<{x}\na\n{x}'],
      'write $( )': ['echo `echo {x}`', 'echo "`echo {x}`"', 'cat <<EOF\n`echo {x}`\nEOF'],
      'value={x}': ['echo ${a:-{x}}', 'echo "${a#{x}}"', 'eval {x}', 'eval "$(echo {x})"', 'A=1 command eval "a {x}"', '! \\eval {x}'],
      'n={x}': ['echo $(( {x} + 1 ))', 'echo "$(( $(echo {x}) ))"'],
      'remove the backslash': ['echo \\{x}', 'echo "\\\\\\{x}"', 'cat <<EOF\n\\{x}\nEOF'],
      'double quotes': ["echo $'{x}'"],
      'fixed name': ['{x}=5', 'a{x}=5', 'a[{x}]=5', '{x}() { :; }', 'for {x} in a; do :; done', 'export {x}', 'unset {x}', 'read {x}'],
      'as an argument': ['sh -c {x}', "/bin/bash -lc 'echo {x}'", 'bash -o pipefail -c -- {x}', 'y=$(sh -c "{x}")', 'cat <<EOF |\n{x}\nEOF\nsh', '{ echo {x}; } | bash -s'],
      'ssh host': ['ssh host echo {x}', 'ssh -p 22 -i key host "echo {x}"', 'timeout 9 ssh -v a@b {x}'],
      'option to a fixed': ['ssh -o {x} host', 'ssh -oProxyCommand={x} host'],
      'name the script': ['sh {x} {y}', 'sh -- {x}', '. {x}'],
      'name the program': ['{x} {y}', 'nice {x}', '"$tool" {x}'],
      'use [ ]': ['[[ {x} -gt 3 ]]', '[[ a && {x} -gt 3 && b ]]'],
      'fixed text': ['PS4={x}'],
    };
    for (const [hint, blocks] of Object.entries(refused)) {
      for (const text of blocks) {
        const error = failure(`:\n${text}`);
        expect(error, text).toMatchObject({ code: 'bad-placeholder', hint: expect.stringContaining(hint) });
      }
    }
    expect(failure(`echo {x}\ncat <<'EOF'\n\n{y}\nEOF`)).toMatchObject({ file: 'create_page.md', line: 13 });
    expect(failure('echo {z}')).toMatchObject({ code: 'bad-placeholder', line: 10 });
  });

  test('V4 in doubt all placeholders of the block are refused, and the line that is in doubt is said', () => {
    // biome-ignore format: a list to read at a glance
    const doubtful = [
      'a=(1 2)', '((a))', "echo 'it", 'echo "a', 'echo $(a', 'echo ${a', 'echo `a', 'cat <<EOF\n', 'cat <<$A\n', 'echo $[1]', "echo $'\\''",
      'function f { a; }', 'a)', 'echo "${a:-\'}"', 'diff <(a) b', 'case a of', 'cat <<EOF\na\\\nEOF', 'cat <<EOF $(a\nb)\nEOF', 'cat <<EOF\nEOF)\nEOF',
    ];
    for (const text of doubtful) {
      const message = expect.stringMatching(/^\{x\} .*on line 1[1-3]$/);
      expect(failure(`echo {x}\n${text}`), text).toMatchObject({ message, line: 10 });
      expect(failure(`:\n${text}\necho {x}`), text).toMatchObject({ code: 'bad-placeholder' });
    }
  });

  test('V3 a block without placeholders passes as it is', () => {
    const values = { columns: {}, shift };
    for (const text of ["echo 'it", 'a=(1) ${x} `{ }` $((', "awk '{ print $1 }' <<'EOF'", 'eval "${x}" {} {a,b}', '']) {
      expect(fillScript(parseScript(text, scope, 3), values)).toEqual({ source: text, values: {}, line: 3 });
      expect(renderForReader(parseScript(text, scope, 3), values)).toEqual([text]);
    }
    expect(fillScript(parseScript("awk '{{print}}'", scope, 1), values).source).toBe("awk '{print}'");
  });
});

function failure(text: string) {
  try {
    parseScript(text, scope, 10);
  } catch (error) {
    return error;
  }
  return undefined;
}
