import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

/** Who may import whom; `docs/architecture.md` says why. A folder may always import from itself. */
interface Rule {
  /** Folders, or single files of them. */
  readonly may: readonly string[];
  /** Only `import type`: they know the interface, and `app` builds what is behind it. */
  readonly mayTypes?: readonly string[];
  /** Packages and parts of Node; `node:` is all of Node. */
  readonly packages: readonly string[];
}

const RULES: Record<string, Rule> = {
  core: { may: [], packages: ['node:crypto'] },
  formats: { may: ['core'], packages: ['node:buffer', 'node:util'] },
  store: { may: ['core', 'formats'], mayTypes: ['workspace/records.ts'], packages: ['node:', 'koffi'] },
  agents: { may: ['core'], packages: ['node:', 'koffi', '@opencode-ai/sdk/v2/client', '@agentclientprotocol/sdk'] },
  checks: { may: ['core', 'agents/process/process.ts'], packages: [] },
  watch: {
    may: ['core'],
    mayTypes: ['store/store.ts'],
    packages: ['node:crypto', 'node:fs', 'node:fs/promises', 'node:path'],
  },
  workspace: { may: ['core'], packages: ['node:'] },
  roles: { may: ['core'], packages: ['node:module', 'zod'] },
  engine: {
    may: ['core', 'roles', 'watch', 'agents/environment.ts'],
    mayTypes: ['agents/agent.ts', 'checks/checks.ts', 'store/store.ts', 'store/documents.ts'],
    packages: ['node:fs', 'node:fs/promises', 'node:os', 'node:path'],
  },
  fleet: {
    may: ['core'],
    mayTypes: ['engine/ports.ts', 'engine/worker/worker-ports.ts'],
    packages: ['node:', 'pg', 'pg-boss', 'zod'],
  },
  kit: { may: [], packages: ['node:crypto', 'node:fs', 'node:path', 'node:url'] },
  // They show the values that `app` returns.
  views: { may: ['core'], mayTypes: ['app'], packages: [] },
  app: {
    may: ['core', 'formats', 'store', 'agents', 'checks', 'watch', 'roles', 'engine', 'fleet', 'kit', 'workspace'],
    packages: ['node:'],
  },
  // The front ends are peers: parse, call `app`, print.
  mcp: {
    may: ['core', 'app', 'views'],
    packages: ['node:crypto', 'zod', '@modelcontextprotocol/server', '@modelcontextprotocol/server/stdio'],
  },
  server: {
    may: ['core', 'app'],
    packages: ['node:', 'zod'],
  },
  // The public API: a table of contents.
  'index.ts': { may: ['app', 'core'], packages: [] },
  cli: {
    may: ['core', 'app', 'views', 'mcp/server.ts', 'server/server.ts', 'server/web-files.ts'],
    packages: ['node:', 'commander'],
  },
};

interface Import {
  readonly from: string;
  /** A path below src, or the name of a package. */
  readonly to: string;
  readonly isPackage: boolean;
  readonly isType: boolean;
  /** Loaded when the code gets there. */
  readonly isLazy: boolean;
}

const FROM = /^(?:import|export)\s+(type\s+)?(?:([^'";]*?)\s+from\s+)?'([^']+)'/gm;
const CALL = /(?:\bimport|createRequire\(import\.meta\.url\))\('([^']+)'\)/g;

const sources = listFiles('src').filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
const imports = sources.flatMap(importsOf);

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative('.', join(entry.parentPath, entry.name)));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const found = [
    ...[...text.matchAll(FROM)].map(([, type, names, target]) => ({
      target: target!,
      isType: type !== undefined || isAllTypes(names),
      isLazy: false,
    })),
    ...[...text.matchAll(CALL)].map(([call, target]) => ({
      target: target!,
      isType: false,
      isLazy: call.startsWith('import('),
    })),
  ];
  return found.map(({ target, isType, isLazy }) => {
    const isPackage = !target.startsWith('.');
    const to = isPackage ? target : relative('src', resolve(dirname(file), target));
    return { from: relative('src', file), to, isPackage, isType, isLazy };
  });
}

function isAllTypes(names: string | undefined): boolean {
  const list = /^\{([^}]*)\}$/s.exec(names?.trim() ?? '')?.[1];
  return list?.split(',').every((name) => name.trim() === '' || /^\s*type\s/.test(name)) ?? false;
}

function folderOf(file: string): string {
  return file.split('/')[0]!;
}

function covers(allowed: string, { to, isPackage }: Import): boolean {
  if (isPackage) return allowed === 'node:' ? to.startsWith('node:') : to === allowed;
  return to === allowed || to.startsWith(`${allowed}/`);
}

function isAllowed(each: Import): boolean {
  const rule = RULES[folderOf(each.from)];
  if (rule === undefined) return false;
  if (each.isPackage) return rule.packages.some((allowed) => covers(allowed, each));
  if (folderOf(each.to) === folderOf(each.from)) return true;
  if (rule.may.some((allowed) => covers(allowed, each))) return true;
  return each.isType && (rule.mayTypes ?? []).some((allowed) => covers(allowed, each));
}

const describe = ({ from, to, isType }: Import) => `${from} -> ${to}${isType ? ' (type)' : ''}`;

test('every import is one that the table allows', () => {
  expect(imports.filter((each) => !isAllowed(each)).map(describe)).toEqual([]);
});

test('only what starts them knows the servers', () => {
  const usersOf = (folder: string) =>
    imports.filter(({ from, to }) => folderOf(from) === 'cli' && folderOf(to) === folder).map(({ from }) => from);
  expect(usersOf('mcp')).toEqual(['cli/commands/mcp.ts']);
  expect([...new Set(usersOf('server'))]).toEqual(['cli/serve-page.ts']);
});

test('the application layer prints nothing and leaves the process alone', () => {
  const prints = /\bconsole\.|\bprocess\.(?:std(?:in|out|err)|exit|exitCode|on|once)\b|\bwrite(?:v)?Sync\(\s*[12]\b/;
  const app = sources.filter((file) => file.startsWith('src/app/'));
  expect(app.filter((file) => prints.test(readFileSync(file, 'utf8')))).toEqual([]);
});

test('the table is about what is there: each folder has its row, each entry is used', () => {
  expect([...new Set(sources.map((file) => folderOf(relative('src', file))))].sort()).toEqual(
    Object.keys(RULES).sort(),
  );
  const unused = Object.entries(RULES).flatMap(([folder, { may, mayTypes = [], packages }]) => {
    const own = imports.filter(({ from }) => folderOf(from) === folder);
    return [...may, ...mayTypes, ...packages]
      .filter((allowed) => !own.some((each) => covers(allowed, each)))
      .map((allowed) => `${folder}: ${allowed}`);
  });
  expect(unused).toEqual([]);
});

test('the reader of imports overlooks nothing', () => {
  // Every line that looks like an import, however it is written, was taken apart above.
  for (const file of sources) {
    const text = readFileSync(file, 'utf8');
    const seen = [...text.matchAll(/\bfrom\s+['"]|\b(?:import|require)\(\s*['"`]|^import\s+['"`]/gm)].length;
    const calls = [...text.matchAll(/createRequire\(import\.meta\.url\)\('/g)].length;
    expect(`${file}: ${importsOf(file).length}`).toBe(`${file}: ${seen + calls}`);
  }
  for (const { from, to, isPackage } of imports) {
    if (!isPackage) expect(existsSync(join('src', to)), `${from} imports ${to}`).toBe(true);
    else if (to.startsWith('node:')) expect(builtinModules, `${from} imports ${to}`).toContain(to.slice(5));
  }
});

test('nothing is loaded in a circle', () => {
  const next = new Map<string, string[]>();
  // Types are gone when it runs: a command may know the type of what loads it.
  for (const { from, to, isPackage, isType } of imports) {
    if (!isPackage && !isType) next.set(from, [...(next.get(from) ?? []), to]);
  }
  const finished = new Set<string>();
  const walk = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [[...path.slice(path.indexOf(file)), file].join(' -> ')];
    if (finished.has(file)) return [];
    const found = (next.get(file) ?? []).flatMap((to) => walk(to, [...path, file]));
    finished.add(file);
    return found;
  };
  expect(sources.flatMap((file) => walk(relative('src', file), []))).toEqual([]);
});

test('what carries out an order sees neither store, nor table, nor watch', () => {
  const reached = new Set(['engine/worker/worker.ts']);
  for (const file of reached) {
    for (const { from, to, isPackage } of imports) if (from === file && !isPackage) reached.add(to);
  }
  expect([...reached].map(folderOf).sort()).toEqual(expect.arrayContaining(['agents', 'checks', 'core', 'roles']));
  expect([...reached].filter((file) => /^(store|formats|watch|views|app|cli)\//.test(file))).toEqual([]);
});

test('a shift without workspaces loads none of their code', () => {
  const reached = new Set(['start', 'status', 'show', 'test-task', 'list'].map((name) => `cli/commands/${name}.ts`));
  for (const file of reached) {
    for (const { from, to, isPackage, isType, isLazy } of imports) {
      if (from === file && !isPackage && !isType && !isLazy) reached.add(to);
    }
  }
  expect([...reached]).toContain('app/run/workspaces-on-demand.ts');
  expect([...reached].filter((file) => /^(workspace|app\/(workspaces|delivery))\//.test(file))).toEqual([]);
});

test('decisions ask neither the clock, nor chance, nor the environment', () => {
  const asks =
    /\bDate\.now|\bnew Date\(\)|\bMath\.random|\brandom(Bytes|UUID)|\bprocess\.|\bperformance\.|\bset(Timeout|Interval)\b/;
  const pure = sources.filter((file) => /^src\/(core|formats|roles|views)\//.test(file));
  expect(pure.filter((file) => asks.test(readFileSync(file, 'utf8')))).toEqual([]);
});

test('no decision is taken by reading a message: what is meant is a field', () => {
  const reads = new RegExp(
    [
      /\b(reason|message|why)\??\.(endsWith|startsWith|includes|match|search|indexOf)\(/,
      /\.test\((\w+\.)?(reason|message)\b/,
      /\b(reason|message|why) [!=]== ['"`]\w/,
    ]
      .map(({ source }) => source)
      .join('|'),
  );
  const excepted = [
    // The programs behind agents tell what is wrong in words.
    /^src\/agents\//,
    // Journals of older versions have no field for it.
    /^src\/core\/model\/older-events\.ts$/,
    // Drivers and Node tell a lost connection in words.
    /^src\/(fleet\/failure|app\/fleet\/database-error)\.ts$/,
    // Only whether a place is printed that the message names already.
    /^src\/core\/model\/errors\.ts$/,
    // Only which full text belongs to one that was shortened.
    /^src\/app\/read-item\.ts$/,
  ];
  const checked = sources.filter((file) => !excepted.some((exception) => exception.test(file)));
  expect(checked.filter((file) => reads.test(readFileSync(file, 'utf8')))).toEqual([]);
});

test('the engine knows the time only from its clock, so that a test can simulate it', () => {
  const asks =
    /\bDate\.now|\bnew Date\(\)|\bMath\.random|\bperformance\.|\bset(Timeout|Interval|Immediate)\b|AbortSignal\.timeout/;
  const engine = sources.filter((file) => file.startsWith('src/engine/'));
  expect(engine.filter((file) => asks.test(readFileSync(file, 'utf8')))).toEqual([]);
});

test('files are small, have names that say something, and export by name', () => {
  const long = sources.filter((file) => readFileSync(file, 'utf8').split('\n').length - 1 > 300);
  expect(long).toEqual([]);
  const nameless = sources.filter((file) => !/^src(\/[a-z]+(-[a-z]+)*){1,4}\.ts$/.test(file));
  expect(nameless).toEqual([]);
  expect(sources.filter((file) => /\b(utils?|helpers?|common|misc)\b/.test(file))).toEqual([]);
  const defaults = sources.filter((file) => /^export default\b|\bas default\b/m.test(readFileSync(file, 'utf8')));
  expect(defaults).toEqual([]);
});

test('the project stands on its own: nothing in it names a folder outside of it', () => {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    encoding: 'utf8',
  });
  const files = listed.split('\0').filter((file) => isFile(file) && !file.endsWith('-lock.json'));
  expect(files).toContain('package.json');
  const climbing = files
    .filter((file) => file.endsWith('.ts') || file.endsWith('.mjs'))
    .flatMap((file) => {
      const targets = [...readFileSync(file, 'utf8').matchAll(/['"`](\.\.?\/[^'"`\s]*)['"`]/g)].map(
        ([, target]) => target!,
      );
      return targets
        .filter((target) => relative('.', resolve(dirname(file), target)).startsWith('..'))
        .map((target) => `${file}: ${target}`);
    });
  // Tests of names and paths try to get out on purpose; they are not imports.
  expect(climbing.filter((each) => !/^(test|src\/.*\.test\.ts)/.test(each))).toEqual([]);
  // Put together here, so that this file does not name them itself.
  const outside = new RegExp(
    [['', 'work', ''].join('/'), ['..', 'shared'].join('/'), ['seeds', ''].join('/')].join('|'),
  );
  const homes = /["'`( ](\/(home|Users)\/[a-z]|\/root\/)/;
  const naming = files.filter((file) => {
    const text = readFileSync(file, 'utf8');
    // Homebrew on Linux is always there.
    return outside.test(text) || homes.test(text.replaceAll('/home/linuxbrew/', ''));
  });
  expect(naming).toEqual([]);
});
