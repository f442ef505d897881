// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the subject
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fillScript, parseScript } from './shell-template.ts';
import type { Scope } from './template.ts';

const columns = 'x y title slug url name dir file branch size'.split(' ');
const scope: Scope = { columns: new Set(columns), env: new Set(['KEY']), file: 'create_page.md' };
const shift = { FOLDER: '/s/pages', NAME: 'pages', TABLE: '/s/pages/table.csv' };

/**
 * Positions in which a value would become code, by the value that shows it. The first word of a line names a program
 * that must be installed.
 */
const SHOWN: Record<string, string[]> = {
  '$(canary)': [
    // A shell that reads its input, behind a wrapper.
    'sh <<EOF\necho {x}\nEOF',
    'env LANG=C sh <<EOF\necho {x}\nEOF',
    'echo "echo {x}" | env -u FOO sh',
    'env nice -n 1 timeout 9 sh <<EOF\necho {x}\nEOF',
    'nohup sh <<EOF\necho {x}\nEOF',
    'setsid -w sh <<EOF\necho {x}\nEOF',
    'flock l sh <<EOF\necho {x}\nEOF',
    'stdbuf -oL sh <<EOF\necho {x}\nEOF',
    'command sh <<EOF\necho {x}\nEOF',
    'exec sh <<EOF\necho {x}\nEOF',
    'xargs -0 sh -c "echo {x}" < /dev/null',
    'echo "echo {x}" | xargs -I% sh -c %',
    'find . -maxdepth 0 -exec true ";" -exec sh -c "echo {x}" ";"',
    // Its input by another way.
    '. /dev/stdin <<EOF\nA={x}\nEOF',
    'sh /dev/stdin <<EOF\necho {x}\nEOF',
    'sh -s <<EOF\necho {x}\nEOF',
    'sh - <<EOF\necho {x}\nEOF',
    'sh /dev/fd/3 3<<EOF\necho {x}\nEOF',
    'exec 3<<EOF\necho {x}\nEOF\nsh <&3',
    'exec <<EOF\necho {x}\nEOF\nsh',
    '{ sh; } <<EOF\necho {x}\nEOF',
    '(cd .; sh) <<EOF\necho {x}\nEOF',
    'if true; then sh; fi <<EOF\necho {x}\nEOF',
    'case a in a) sh ;; esac <<EOF\necho {x}\nEOF',
    'echo "echo {x}" | { cat | sh; }',
    // Through a variable, a function, another text.
    'echo "echo {x}" | $SHELL',
    'RUN="sh -c"\n$RUN "echo {x}"',
    '"$(command -v sh)" -c "echo {x}"',
    'env "$SHELL" -c "echo {x}"',
    'run() { sh -c "$1"; }\nrun "echo {x}"',
    'run() { "$@"; }\nrun sh -c "echo {x}"',
    'run() { sh; }\necho "echo {x}" | run',
    'set -- sh -c "echo {x}"\n"$@"',
    'v={x}; eval "echo $v"',
    'v={x}; w="echo $v"; sh -c "$w"',
    'for v in {x}; do sh -c "echo $v"; done',
    'echo "echo {x}" | while read -r v; do sh -c "$v"; done',
    `export v={x}; sh -c 'eval "echo $v"'`,
    `sh -c 'eval "echo $1"' sh {x}`,
    `sh -c '"$@"' sh sh -c "echo {x}"`,
    'v={x}; : `eval "echo $v"`',
    'echo "echo {x}" > f; eval "$(cat f)"',
    'trap "echo {x}" EXIT',
    // A file that the block writes and runs.
    'cat > gen.sh <<EOF\necho {x}\nEOF\nsh gen.sh',
    'cat > gen.sh <<EOF\necho {x}\nEOF\nchmod +x gen.sh\n./gen.sh',
    'cat > gen.sh <<EOF\necho {x}\nEOF\nchmod +x gen.sh\nenv ./gen.sh',
    'cat > a <<EOF\necho {x}\nEOF\nmv a gen.sh\nsh ./gen.sh',
    'cat > a <<EOF\necho {x}\nEOF\nln -s a gen.sh\n. ./gen.sh',
    'echo "echo {x}" | tee gen.sh\nsh gen.sh',
    'echo "echo {x}" > gen.sh; sh < gen.sh',
    'echo "echo {x}" > gen.sh; cat gen.sh | sh',
    'f=gen.sh; echo "echo {x}" > "$f"; sh gen.sh',
    `echo "echo {x}" > gen.sh; sh -c 'sh gen.sh'`,
    '{ echo "echo {x}"; } > gen.sh; sh gen.sh',
    `dd of=gen.sh 2>/dev/null <<EOF\necho {x}\nEOF\nsh gen.sh`,
    'printf "A={x}\\n" > .vars; . ./.vars',
    'ln -s /bin/sh foo; ./foo -c "echo {x}"',
    'env ln -s /bin/sh foo; env ./foo -c "echo {x}"',
    // A program that is told to run what it reads.
    "echo {x} | sed 's/^/echo /e'",
    'echo {x} | sed e',
    `awk -v v={x} 'BEGIN { system("echo " v) }'`,
    `awk -v v={x} 'BEGIN { ("echo " v) | getline }'`,
    `awk -v v={x} 'BEGIN { print "a" | v }'`,
    `echo {x} | awk '{ system($0) }'`,
    // bash evaluates more than arithmetic.
    `bash -c 'echo "\${1@P}"' bash {x}`,
    'bash -c ":"; v={x}; echo "${v@P}"',
  ],
  canary: [
    ...[
      "printf '%s' {x} | xargs env",
      "printf '%s' {x} | xargs nice -n 5",
      'strace -o "|{x}" true',
      'bash -c "compgen -C {x}"',
    ],
    ...['split --filter={x} f', 'tar -I {x} -cf a f'],
    ...[],
    ...['{x}', 'eval {x}', 'env -S {x}', 'git -c alias.a="!{x}" a', 'v={x}; $v', 'sh -c {x}'],
  ],
  '$(shell canary)': [
    `printf 'all:\\n\\techo $(T)\\n' > m.mk; T={x} make -s -f m.mk`,
    `printf 'all:\\n\\techo $(T)\\n' > m.mk; export T={x}; make -s -f m.mk`,
    'printf "all:\\n\\t: \\$(T)\\n" > m.mk; make -s -f m.mk T={x}',
    'make -s -f - <<EOF\nall:\n\t: {x}\nEOF',
  ],
  '1e canary': ['echo a > f; sed {x} f', 'echo a > f; sed -e 1p -e {x} f'],
  'f -exec canary ;': ["printf '%s' {x} | xargs find . -name"],
  '--checkpoint=1 --checkpoint-action=exec=canary': [
    'TAR_OPTIONS={x} tar cf a.tar f',
    'echo {x} | xargs tar cf a.tar f',
  ],
  'canary|': ["perl -ne 'print' -- {x}"],
  ';canary|': [`perl -pe 's/a/b/' "out/{x}"`],
  'canary/e;s/b/c': ['echo a > f; sed "s/a/{x}/" f'],
  'BEGIN{system("canary")}': ['awk {x} /dev/null', 'perl -e {x}'],
  '__import__("os").system("canary")': [
    'python3 -c "print({x})"',
    'echo {x} | python3',
    'python3 - <<EOF\n{x}\nEOF',
    'echo {x} > gen.py; python3 gen.py',
  ],
  'system("canary")': ['perl -e "{x}"', 'perl <<EOF\n{x}\nEOF'],
  './gen.sh': ['echo "canary" > gen.sh; chmod +x gen.sh; nice {x}', 'echo "canary" > gen.sh; sh {x}'],
  'a[$(canary)]': [
    'bash -c ":"; n={x}; echo $((n + 1))',
    'bash -c ":"; s=abc; n={x}; echo "${s:n}"',
    `bash -c 'echo $(($1 + 1))' bash {x}`,
    `bash -c '[[ $1 -gt 3 ]]' bash {x}`,
    `bash -c '[[ -v $1 ]]' bash {x}`,
    `bash -c 'echo "\${!1}"' bash {x}`,
    `bash -c 's=abc; echo "\${s:$1}"' bash {x}`,
    'bash -c ":"; n=$(printf %s {x}); echo $((n + 1))',
    'bash -c ":"; f() { echo $(($1 + 1)); }; f {x}',
    'bash -c ":"; export n={x}; bash -c "echo \\$((n + 1))"',
    'bash -c ":"; n={x}; echo "${!n}"',
  ],
};

/** Options of programs: the block does not run with such a value, and does with any other. */
const OPTIONS: Record<string, string[]> = {
  '-e1ecanary': ['echo a > f; sed -n 1p {x} f; cp f 1p; sed 1p {x} f', 'v={x}; echo a > f; sed p "$v" f'],
  '-eBEGIN{system("canary")}': [`perl -e '1;' {x}`, `sh -c 'perl -e "1;" "$1"' sh {x}`],
  '--upload-pack=canary;': [
    'git init -q r; git ls-remote {x} ./r',
    'git init -q r; git ls-remote -q {x} ./r',
    'git init -q r; v={x}; git ls-remote "$v" ./r',
    `git init -q r; sh -c 'git ls-remote "$1" ./r' sh {x}`,
    'git init -q r; f() { git ls-remote "$1" ./r; }; f {x}',
    'git init -q r; env git ls-remote {x} ./r',
  ],
  '--filter=canary': ['echo a > f; split {x} f', 'echo a > f; nice split {x} f'],
  '-va[$(canary)]': ['bash -c ":"; v={x}; printf "$v" a', `bash -c 'printf "$1" a' bash {x}`],
};

/** The same for programs that a machine may not have, or that would do more than show it. */
const NOT_SHOWN = [
  ...'bash dash ksh zsh fish busybox\u0020sh'.split(' ').map((shell) => `${shell} -c "echo {x}"`),
  ...'sudo doas strace unshare\u0020-r time'.split(' ').map((wrapper) => `${wrapper} sh <<EOF\n{x}\nEOF`),
  ...[
    'python3.11 -c',
    'ruby -e',
    'node -e',
    'node -p',
    'node --eval',
    'php -r',
    'lua -e',
    'Rscript -e',
    'deno eval',
    'osascript -e',
  ].map((program) => `${program} "{x}"`),
  ...[
    'sg root -c',
    'su -c',
    'script -c',
    'watch',
    'parallel',
    'ssh host',
    'flock l -c',
    'psql -c',
    'mysql -e',
    'sqlite3 db',
  ].map((program) => `${program} "echo {x}"`),
  ...[
    'ssh host',
    'ssh host bash -s',
    'psql db',
    'sqlite3 db',
    'at now',
    'su me',
    'sudo -s',
    'chroot d',
    'chroot d sh',
    'ed f',
    'node',
    'ruby',
  ].map((program) => `${program} <<EOF\n{x}\nEOF`),
  ...[
    'docker exec -i c sh',
    'docker run --rm -i --entrypoint sh image',
    'kubectl exec -i pod -- sh',
    'chronic sh',
  ].flatMap((wrapped) => [`${wrapped} <<EOF\n{x}\nEOF`, `${wrapped} -c "echo {x}"`]),
  'echo "echo {x}" | ionice -c3 sh',
  'bash <<< {x}',
  'bash <(echo {x})',
  'source <(echo {x})',
  'curl {url} | sh',
  'curl -o i.sh {url}; sh i.sh',
  'ssh -o {x} host',
  'npx {x}',
  'git init -q; git config core.fsmonitor {x}; git status',
  'git -c core.pager={x} -p config -l',
  'tar --to-command={x} -xf f.tar',
  'sort --compress-program={x} -S 10k f',
  'npm exec {x}',
  'uv run {x}',
  'docker exec c {x}',
  'kubectl exec pod -- {x}',
  'go run {x}',
  'xvfb-run {x}',
  'systemd-run {x}',
  'sudo -E {x} b',
  'npx tsx -e {x}',
  'man -P {x} ls',
  'rg --pre {x} a',
  'curl -K {x}',
  'rsync -e {x} a b',
  'rsync --rsync-path={x} a b',
  'wget --use-askpass={x} a',
  'go test -exec {x}',
  'git difftool --extcmd={x}',
  'git --exec-path={x} status',
  'git config credential.helper {x}',
  'git config {x} a',
  'git init --template={x}',
  'git grep -O{x} a',
  'jq {x} f',
  'jq ".a = \\"{x}\\"" f',
  'jq -f {x} f',
  'java -cp {x} Main',
  'java -jar {x}',
  'hash -p {x} ls',
  'enable -f {x} a',
  'alias e=eval; e {x}',
  'hash -p /bin/sh foo; foo -c {x}',
  'HOME={x} git status',
  'JDK_JAVA_OPTIONS={x} java A',
  'v={x}; perl -ne print "$v"',
  'f() { g "$1"; }; g() { "$@"; }; f {x}',
  "sh -c 'curl $1 | sh' sh {x}",
  'sudo {x}',
  'run() { "$@"; }\nrun {x}',
  'sh "jobs/{x}.sh"',
  '. {x}',
  'echo {x} > "{y}.sh"; sh build.sh',
  'echo {x} > "$out"; ./build.sh',
  'cat > Makefile <<EOF\na:\n\techo {x}\nEOF\nmake',
  'for f in jobs/*; do sh "$f"; done; echo {x}',
  'PATH={x} tool',
  'export BASH_ENV={x}',
  'env PERL5OPT={x} perl s.pl',
  'printf {x}',
  'test {x} {y}',
  'f() { sudo "$@"; }; f {x}',
  'f() { shift; "$@"; }; f a {x}',
  'f() { local c="$1"; bash -c "$c"; }; f {x}',
  'git config alias.x "!{x}"; git x',
  'git submodule foreach {x}',
  'git -c core.sshCommand={x} fetch',
  'sed -f- f <<EOF\n{x}\nEOF',
  'awk -f - <<EOF\n{x}\nEOF',
  'npm exec -c "{x}"',
  'sudo -iu me <<EOF\n{x}\nEOF',
  '/proc/self/exe -c {x}',
  'n={x}; let n=n+1',
  'mkfifo p; echo {x} > p & sh p',
  't=$(mktemp); echo {x} > "$t"; . "$t"',
  'cat > gen <<EOF\n{x}\nEOF\nchmod +x gen; find . -exec ./gen \\;',
  'cat > gen <<EOF\n{x}\nEOF\nchmod +x gen; sudo -u me ./gen',
  'cat > gen <<EOF\n{x}\nEOF\ntrap ./gen EXIT',
  'echo {x} > q.sql; psql -f q.sql',
  'echo {x} > gen; ssh host sh < gen',
  'exec > gen.sh; echo {x}; sh gen.sh',
  's\\h -c {x}',
  's""h -c {x}',
  'bash -c{x}',
  'A={x}; B=$A; C="$B"; sh -c "$C"',
  'IFS= read -r v <<EOF\n{x}\nEOF\nsh -c "$v"',
  'cat <<EOF\n$(sh -c {x})\nEOF',
  'node -r {x} s.js',
  'python3 -m {x}',
  'perl -pe "s/a/{x}/" f',
  'make --eval={x}',
  'tmux send-keys {x}',
  'case {size} in *[0-9]*) ;; esac; n={size}; [[ $n -gt 3 ]]',
];

/** What people write, and what only looks dangerous. */
const ACCEPTED = [
  `sh -c 'echo "$1"' sh {x}`,
  `sh -c 'echo "$1 $2"' sh {x} {y}`,
  `bash -euo pipefail -c 'printf "%s\\n" "$@"' bash {x} {y}`,
  `python3 - {x} <<'EOF'\nimport sys\nprint((lambda: sys.argv[1])())\nEOF`,
  `python3 -c 'import sys; print(sys.argv[1])' {x}`,
  `curl -s {url} | python3 -c 'import json, sys; print(json.load(sys.stdin)["a"])'`,
  `perl -e 'print @ARGV' -- {x}`,
  `node -e 'console.log(process.argv)' -- {x}`,
  `perl -pe 's/a/b/' "out/{slug}.txt"`,
  'perl -ne print < {file}',
  'python3 script.py {x} -c {y}',
  'node script.js {x}',
  'python3 -m json.tool "{file}"',
  'sh script.sh {x} {y}',
  'bash -euo pipefail ./script.sh {x}',
  'chmod +x build.sh; ./build.sh {x}',
  '[ -f build.sh ] && sh build.sh {x}',
  'cd "repos/{name}" && ./gradlew build',
  'sh "repos/{name}/build.sh" {x}',
  '"$HOME/bin/tool" {x}',
  '. "$HOME/.nvm/nvm.sh"; nvm use 20; node script.js {x}',
  'echo {x} | sh script.sh',
  'sh script.sh <<EOF\n{x}\nEOF',
  'cat "out/{slug}.html"',
  'grep -q -- {x} file',
  "printf '%s\\n' {x} > f",
  'cat > "out/{slug}.html" <<EOF\n<h1>{title}</h1>\nEOF',
  'cat > "out/{slug}.html" <<EOF\n{title}\nEOF\nsh build.sh "out/{slug}.html"',
  'd="out/$NIGHTSHIFT_INDEX"; mkdir -p "$d"; printf %s {x} > "$d/page"; sh build.sh "$d"',
  `jq --arg t {title} '.t = $t' f > g`,
  'curl -d {x} https://example.org',
  'curl -sS "https://example.org/{slug}" | jq . > "out/{slug}.json"',
  'ssh -- {x} uptime',
  'ssh -l {x} host uptime',
  'ssh me@{x} uptime',
  'echo {x} | ssh host "cat > f"',
  'env A={x} tool {y}',
  'TITLE={x} python3 script.py',
  'export TITLE={x}; ./build.sh',
  'sudo -u {x} cp {y} z',
  'timeout {size} curl {url}',
  'flock "out/{slug}.lock" cp {x} y',
  'find {x} -name {y} -exec grep -l {title} {{}} +',
  `find . -name {x} -exec sh -c 'echo "$1"' sh {{}} \\;`,
  `echo {x} | xargs sh -c 'echo "$@"' sh`,
  'echo {x} | xargs -n1 grep -l node',
  'docker run --rm -v "$PWD:/w" image convert {x}',
  'kubectl get node {x}',
  'tool --lang python {x}',
  'command -v python3 > /dev/null || exit 1; echo {x}',
  `(trap '' TERM; setsid sh -c "trap '' TERM; sleep 300") & [ {name} = beta ]`,
  'tmp=$(mktemp); trap "rm -f $tmp" EXIT; echo {x} > "$tmp"',
  'dir=out; sh -c "cd $dir && make"; echo {x}',
  `value={x}; eval 'echo "$value"'`,
  'retry() { for i in 1 2 3; do "$@" && return; done; }\nretry curl -fsS {url}',
  `log() { printf '%s\\n' "$1" >> log; }\nlog {x}`,
  'i=0; while [ $i -lt 3 ]; do i=$((i + 1)); curl {url} && break; done',
  `case {size} in ''|*[!0-9]*) exit 1 ;; esac\nn={size}\necho $((n + 1))`,
  'n=$(wc -l < "{file}"); [ $((n + 1)) -gt 3 ]',
  'git add "{file}" && git commit -q -m "Add {title}"',
  'git clone -b {branch} -- {url} {dir}',
  'git checkout -b {branch}',
  `awk -v t={x} '{{ print t }}' {file}`,
  `sed -n 1p "out/{slug}.html"`,
  `sed 's/a/b/' -- {file}`,
  `sed -e 's/</\\&lt;/g' -e 's/\\*\\([^*]*\\)\\*/<em>\\1<\\/em>/g' "notes/{slug}.md"`,
  `sqlite3 "out/{slug}.db" 'select 1'`,
  `psql -v t={x} <<'EOF'\nselect :'t';\nEOF`,
  'echo "bytes=$(wc -c < "out/{slug}.html")" >> "$NIGHTSHIFT_OUTPUT"; ./publish.sh "{slug}"',
  'echo {x} > {y} 2>&1',
  'echo $((1 + (2))) `date` ${a:-b} {x}',
  'while read l; do echo {x}; done < {y}',
  'docker run --rm -e TITLE={x} image',
  'psql "$DB" -v id={x} -f query.sql',
  'cat {file} | while read -r line; do echo "$line"; done',
  "ssh -o BatchMode=yes host 'uptime' < /dev/null; echo {x}",
  'sudo -u app ./tool {x}',
  'env -i PATH="$PATH" ./tool {x}',
  'tar xzf "{file}" -C "out/{slug}"',
  'out=$(node script.js {x}); printf \'%s\\n\' "$out" > f',
  'test "$(jq -r .title "out/{slug}.json")" = {title}',
  'case {x} in a|b) ./a.sh ;; *) ./b.sh {x} ;; esac',
  'f() { curl -fsS "$1" -o "$2"; }\nf {url} "out/{slug}"',
  'source .venv/bin/activate; python script.py {x}',
  'make build; test -f {x}',
  'uv run python script.py {x}',
  'wget -q -O "out/{slug}" -- {url}',
  'echo {x} # sh -c {y}',
  ...[
    'git clone {url}',
    'git push -u origin {branch}',
    'git pull origin {branch}',
    'git switch -c {branch}',
    'git diff {x}',
  ],
  ...['git -c user.name={name} commit -m {title}', 'git config user.email {x}', 'git grep -n {x}', 'git apply {file}'],
  ...[
    'wget -q {url} -O f',
    'tar czf "out/{slug}.tgz" {dir}',
    'rsync -a {dir} out/',
    'scp {file} host:/srv/',
    'ssh {x} uptime',
  ],
  ...['node --test "test/{slug}.test.js"', 'npx vitest run {file}', 'npx tsx scripts/x.ts {slug}', 'npm test -- {x}'],
  ...['pnpm --filter {name} test', 'npm --prefix {dir} test', 'make -C "{dir}" test', 'go test -run {name} ./...'],
  ...['uv run script.py {x}', 'uvx ruff check {file}', 'poetry run python script.py {x}', 'java -jar tool.jar {file}'],
  ...[`sed 's/ *$//' {file}`, `sed -e 's/a/b/' -e '/^$/d' "{file}"`, `sed -i.bak 's/foo/bar/g' {file}`],
  ...[
    `awk '{ print $1 | "sort" }' {file}`,
    `awk '/a|b/ && $1 || $2' {file}`,
    `awk 'BEGIN { system("date") } 1' {file}`,
  ],
  `find "{dir}" -name '*.md' -print0 | xargs -0 sed -i 's/a/b/'`,
  `git ls-files | xargs grep -l {x} | xargs sed -i 's/a/b/'`,
  `printf '%s\\0' {x} {y} | xargs -0 ls -l`,
  'git diff --name-only | xargs npx eslint; echo {x}',
  `seq 3 | xargs -I% sh -c 'echo "$1"' sh %; echo {x}`,
  'sqlite3 data.db < schema.sql; echo {x}',
  `sqlite3 "{file}" 'select 1'`,
  'mail -s {title} a@b < body.txt',
  `flock l sh -c 'echo "$1" >> log' sh {x}`,
  `bash -c '[[ "$1" == a* ]] && echo yes' bash {x}`,
  'count=$(jq length "{file}"); [ $((count + 1)) -gt 2 ]',
  'size=$(stat -c %s "{file}"); echo $((size / 1024))',
  `jq -n --arg a {x} --argjson b {size} '{ a: $a }'`,
  'jq -r .title "out/{slug}.json"',
];

/** Where blocks run, and a program `canary`, which leaves a mark when a value made a shell run it. */
const root = mkdtempSync(join(tmpdir(), 'nightshift-rule-'));
const [folder, bin, mark] = [join(root, 'work'), join(root, 'bin'), join(root, 'mark')];
beforeAll(() => {
  mkdirSync(folder);
  mkdirSync(bin);
  writeFileSync(join(bin, 'canary'), `#!/bin/sh\n: > '${mark}'\n`, { mode: 0o755 });
});
afterAll(() => rmSync(root, { recursive: true }));

test('V4 S2 what is refused would run the cell: each position is shown with the shell that would run it', () => {
  for (const [value, blocks] of Object.entries(SHOWN)) {
    for (const block of blocks) {
      expect(failure(block), block).toMatchObject({ code: 'bad-placeholder', file: 'create_page.md' });
      if (hasPrograms(block)) expect(runsUnchecked(block, value), block).toBe(true);
    }
  }
});

test('V4 S2 the same position behind another program is refused, too, and a line and what to write are said', () => {
  for (const block of NOT_SHOWN) {
    const refused = { code: 'bad-placeholder', hint: expect.stringMatching(/./), line: expect.any(Number) };
    expect(failure(block), block).toMatchObject(refused);
  }
  const { message, hint } = failure('echo {x}\n:\nsh <&3') as Error & { hint: string };
  expect(message).toBe(
    "{x} can't stand here: `sh` on line 12 runs what it reads from its input, and the value could be in it",
  );
  expect(hint).toBe(`give it fixed code, and the value as an argument: sh -c 'echo "$1"' sh {x}`);
});

test('V4 S2 a block does not run with a value that would be an option, and says so', () => {
  for (const [value, blocks] of Object.entries(OPTIONS)) {
    for (const block of blocks) {
      expect(failure(block), block).toBeUndefined();
      const filled = (x: string) => fillScript(parseScript(block, scope, 1), { columns: { x }, shift });
      expect(filled(value), block).toMatchObject({ source: expect.stringMatching(/\{x\} begins with -.*exit 1$/) });
      expect(filled(`a${value}`).source, block).toContain('NIGHTSHIFT_V_x');
      if (hasPrograms(block)) expect(runsUnchecked(block, value), block).toBe(true);
    }
  }
  const { source } = fillScript(parseScript('git clone {url}', scope, 1), { columns: { url: '-x' }, shift });
  expect(spawnSync('sh', ['-c', source], { encoding: 'utf8' })).toMatchObject({
    status: 1,
    stderr: '{url} begins with -, and git would read it as an option: write -- before it, or ./{url}\n',
  });
  // A word that only holds such a value, the argument of an option, and what stands behind `--` are no options.
  for (const block of ['cp "a{x}" b', 'git commit -m {x}', 'git log -- {x}', 'grep -e {x} f', 'echo {x}', 'tool {x}']) {
    const filled = fillScript(parseScript(block, scope, 1), { columns: { x: '-x' }, shift });
    expect(filled.source, block).toContain('NIGHTSHIFT_V_x');
  }
});

test('V4 what only looks dangerous is accepted', () => {
  for (const block of ACCEPTED) expect(failure(block), block).toBeUndefined();
});

// biome-ignore format: a list to read at a glance
const VALUES = [
  '$(canary)', '`canary`', ';canary;', "';canary;'", '";canary;"', '\ncanary\n', 'canary', '-c', '-s', '-',
  '-ccanary', '-eBEGIN{system("canary")}', 'BEGIN{system("canary")}', '__import__("os").system("canary")', '1e canary',
  '-e1e canary', 'a[$(canary)]', '/dev/stdin', 'gen.sh', './gen.sh', 'eval', 'sh', '-vcanary', 'x"\nimport os; os.system("canary")\n"',
];
const pick = (...texts: string[]) => fc.constantFrom(...texts);
const wrapper = pick('', '', '', 'env ', 'env A=1 ', 'nice ', 'timeout 5 ', 'command ', 'xargs ', 'nohup ', 'exec ');
const producer = pick(
  'echo {x}',
  "printf '%s\\n' {x}",
  'echo "echo {x}"',
  'cat <<EOF\n{x}\nEOF',
  'echo a',
  `printf '%s' "$v"`,
);
const reader = fc
  .tuple(
    wrapper,
    // biome-ignore format: a list to read at a glance
    pick(
      'sh', 'bash', 'sh -s', 'sh /dev/stdin', 'sh -', '. /dev/stdin', 'python3', 'python3 -', 'perl', 'awk -f -', '$SHELL', 'cat', 'grep a', 'sed -n 1p', 'tr a b',
      `sh -c 'cat'`, `sh -c 'sh'`, `sh -c 'echo "$1"' sh {x}`, `python3 -c 'import sys' {x}`, `perl -e '1' {x}`, `perl -e '1' -- {x}`, 'sh {x}', 'sed -n 1p {x}', 'f', 'tee gen.sh',
      'tee out', 'sh gen.sh', 'sh fixed.sh {x}', 'sh -s {x}', 'awk {x}', `awk -v v={x} '1'`, 'xargs -n1 echo', 'sh -c {x}', `sh -c 'eval "$1"' sh {x}`, 'python3 gen.sh',
    ),
  )
  .map((parts) => parts.join(''));
const statement = fc.oneof(
  producer,
  fc
    .tuple(producer, reader)
    .map(([left, right]) => (left.includes('<<') ? left.replace('EOF\n', `EOF | ${right}\n`) : `${left} | ${right}`)),
  fc
    .tuple(producer, pick('gen.sh', 'out', '"$v"', '{x}', '"{x}.sh"'))
    .map(([left, file]) => left.replace(/(?=\n|$)/, ` > ${file}`)),
  reader.map((right) => `${right} <<EOF\n{x}\nEOF`),
  reader.map((right) => `${right} < gen.sh`),
  // biome-ignore format: a list to read at a glance
  pick(
    'v={x}', 'v=$(cat gen.sh)', 'set -- {x}', 'sh -c "$v"', 'eval "$v"', `eval 'echo "$v"'`, '$v', '"$v" a', '"$@"', 'mv out gen.sh', 'chmod +x gen.sh', './gen.sh', '. ./gen.sh',
    'f() { sh; }', 'f() { "$@"; }', 'f() { sh -c "$1"; }', 'f {x}', 'f echo {x}', 'f sh -c {x}', 'read -r v <<EOF\n{x}\nEOF', 'for v in {x}; do sh -c "$v"; done', 'exec < gen.sh', 'exec 3<<EOF\n{x}\nEOF',
    'sh <&3', 'echo $((v + 1))', 'trap "echo $v" EXIT', '{ cat; sh; } < gen.sh', '[ {x} = a ] || true', 'case {x} in a) sh ;; esac', 'unset v', 'export v', 'n={x}; : "${v:-a}"', 'echo `cat gen.sh`',
    'a=({x} b)', '"${a[@]}"', '${a[0]}', 'cat <<< {x}', 'sh <<< "$v"', '. <(echo {x})', 'sh <(echo {x})', 'cat < <(echo {x})', 'declare v={x}', 'local v={x}', 'let v={x}', 'let "v=$v"', '(( v ))', '(( {x} ))',
    '[[ {x} -eq 1 ]]', '[[ $v -eq 1 ]]', 'mapfile -t a <<< {x}', 'printf -v w %s {x}', 'echo "${v@P}"', 'echo "${!v}"', 'echo ${a[v]}', 'a[{x}]=1', 'v+={x}', 'coproc {x}', 'source gen.sh', 'read -r v <<< {x}', 'bash -c "$v"', 'echo {x} |& sh', 'echo {x} &> gen.sh',
  ),
);

test('V4 S2 whatever is accepted of a small grammar of blocks runs no cell, in sh or in bash', () => {
  const shells = ['sh', 'bash'].filter((shell) => isThere(shell));
  let accepted = 0;
  fc.assert(
    fc.property(fc.array(statement, { minLength: 1, maxLength: 4 }), pick(...VALUES), (statements, value) => {
      const block = statements.join('\n');
      if (!block.includes('{x}') || failure(block)) return;
      accepted++;
      const { source, values } = fillScript(parseScript(block, scope, 1), { columns: { x: value }, shift });
      for (const shell of shells) {
        run(shell, `echo : > fixed.sh; echo : > gen.sh\n${source}`, values as Record<string, string>);
        expect(sweep(), `${shell}: ${block} with ${value}`).toBe(false);
      }
    }),
    { numRuns: Number(process.env.NIGHTSHIFT_FUZZ ?? 80) },
  );
  expect(accepted).toBeGreaterThan(0);
});

/** Runs the block as if nothing were refused: with a reference in each way of quoting that could be meant. */
function runsUnchecked(block: string, value: string): boolean {
  const references = ['"${V}"', '${V}'];
  if (/"[^"\n]*\{x\}|<<EOF/.test(block)) references.reverse();
  return references.some((reference) => {
    const shell = block.startsWith('bash') ? 'bash' : 'sh';
    for (const file of ['f', 'f.tar']) writeFileSync(join(folder, file), 'a\n'.repeat(9));
    run(shell, block.replaceAll('{x}', reference), { V: value, SHELL: '/bin/sh' });
    return sweep();
  });
}

function run(shell: string, source: string, values: Record<string, string>): void {
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: folder, ...values };
  spawnSync(shell, ['-c', source], { cwd: folder, env, stdio: 'ignore', timeout: 5000 });
}

/** Whether a cell was run; leaves an empty folder. */
function sweep(): boolean {
  const hasRun = existsSync(mark);
  rmSync(mark, { force: true });
  for (const file of readdirSync(folder)) rmSync(join(folder, file), { recursive: true });
  return hasRun;
}

function hasPrograms(block: string): boolean {
  const optional = 'bash flock setsid stdbuf timeout make git python3 perl awk strace tar split sort'.split(' ');
  return optional.every((program) => !new RegExp(`(^|[ \\n|;])${program} `).test(block) || isThere(program));
}

function isThere(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0;
}

function failure(text: string): unknown {
  try {
    parseScript(text, scope, 10);
  } catch (error) {
    return error;
  }
  return undefined;
}
