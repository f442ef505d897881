import type { ScriptTemplate } from '../core/language/shell-template.ts';
import { parseTemplate, type Scope, type Template } from '../core/language/template.ts';
import { branchProblem } from '../core/workspace/branch-name.ts';
import { hasLogin, LOGIN_PROBLEM, LOGIN_REMEDY } from '../core/workspace/login.ts';
import type { DeliveryTemplate, Include, WorkspaceTemplate } from '../core/workspace/plan.ts';
import { oneOf, positive } from './change-settings.ts';
import { compileScript } from './compile-task.ts';
import { badSetting, type LookUp, leadsOut, listOf, type PlacedSetting } from './look-up.ts';
import type { WorkspacePlan } from './workspace-plan.ts';

/**
 * Resolves the placeholders of a workspace. `before`: what is known before its first task; `after`: when its last task
 * has passed.
 */
export function compileWorkspace(
  { kind, deliver, lookUp }: WorkspacePlan,
  before: Scope,
  after: Scope,
): WorkspaceTemplate {
  const repo = repoTemplate(lookUp, before);
  const base = publicTemplate(lookUp, 'base', before);
  const branch = branchTemplate(lookUp, 'branch', before);
  const setup = script(lookUp, 'setup', before);
  const folder = lookUp('workspaces-dir')?.setting.value;
  const row = [branch, repo].flatMap((each) => each?.segments ?? []);
  if (branch !== undefined && !row.some((each) => typeof each !== 'string' && each.kind === 'column')) {
    const hint = 'add a column that differs between rows, like `fix/{name}`';
    throw badSetting(lookUp('branch')!, 'is the same branch for every row', hint);
  }
  return {
    kind,
    ...(repo && { repo }),
    ...(base && { base }),
    ...(branch && { branch }),
    include: readInclude(lookUp),
    ...(setup && { setup }),
    ...(folder && { folder }),
    delivery: compileDelivery(deliver, lookUp, after),
  };
}

function compileDelivery(kind: WorkspacePlan['deliver'], lookUp: LookUp, scope: Scope): DeliveryTemplate {
  const into = branchTemplate(lookUp, 'into', scope);
  const most = positive(lookUp, 'max-deliveries');
  const author = authorTemplate(lookUp, scope);
  const message = publicTemplate(lookUp, 'message', scope);
  const title = publicTemplate(lookUp, 'pr-title', scope);
  const body = publicTemplate(lookUp, 'pr-body', scope);
  const prCommand = script(lookUp, 'pr-command', scope);
  return {
    kind,
    ...(into && { into }),
    when: oneOf(lookUp, 'deliver-when', ['done', 'approved']) ?? 'done',
    ...(most !== undefined && { most }),
    ...(author && { author }),
    ...(message && { message }),
    ...(title && { title }),
    ...(body && { body }),
    ...(prCommand && { prCommand }),
  };
}

function template(lookUp: LookUp, key: string, scope: Scope): Template | undefined {
  const found = lookUp(key);
  if (found === undefined) return undefined;
  const { value, line } = blockOf(found) ?? found.setting;
  return value === '' ? undefined : parseTemplate(value, { ...scope, file: found.file }, line);
}

/** The one block below a key, if it has one in place of a value. */
function blockOf(found: PlacedSetting): { info: string; value: string; line: number } | undefined {
  const { value, blocks = [] } = found.setting;
  const [block] = blocks;
  if (block === undefined) return undefined;
  if (value !== '') throw badSetting(found, 'has a value and a block below it', 'keep one of them');
  if (blocks.length > 1) throw badSetting(found, `has ${blocks.length} blocks`, 'write one block');
  return { info: block.info, value: block.code, line: block.line };
}

/** For what others can read later: a secret in it would be published. */
function publicTemplate(lookUp: LookUp, key: string, scope: Scope): Template | undefined {
  const parsed = template(lookUp, key, scope);
  const secret = parsed && secretIn(parsed);
  if (secret === undefined) return parsed;
  throw badSetting(lookUp(key)!, 'would publish a secret', `leave {ENV:${secret}} out`);
}

/** Cells are not known yet: they are looked at when a run starts. */
function repoTemplate(lookUp: LookUp, scope: Scope): Template | undefined {
  const parsed = template(lookUp, 'repo', scope);
  if (parsed === undefined || !(hasLogin(withExamples(parsed)) || secretIn(parsed) !== undefined)) return parsed;
  const found = lookUp('repo')!;
  // Without its value, which may be a token.
  throw badSetting({ ...found, setting: { ...found.setting, value: '' } }, LOGIN_PROBLEM, LOGIN_REMEDY);
}

/** The name of the first one. */
function secretIn({ segments }: Template): string | undefined {
  return segments.flatMap((segment) => (typeof segment !== 'string' && segment.kind === 'env' ? segment.name : []))[0];
}

function branchTemplate(lookUp: LookUp, key: string, scope: Scope): Template | undefined {
  const parsed = publicTemplate(lookUp, key, scope);
  const problem = parsed && branchProblem(withExamples(parsed));
  if (problem === undefined) return parsed;
  throw badSetting(lookUp(key)!, `is no name for a branch: it ${problem}`, 'write it like `fix/{name}`');
}

function authorTemplate(lookUp: LookUp, scope: Scope): Template | undefined {
  const parsed = publicTemplate(lookUp, 'author', scope);
  if (parsed === undefined || /^[^<>]*[^<>\s][^<>]* <[^<>\s]+>$/.test(withExamples(parsed))) return parsed;
  throw badSetting(lookUp('author')!, 'is no author for git', 'write it like `Ann Lee <ann@example.com>`');
}

/** The text with a plain word for each placeholder. */
function withExamples({ segments }: Template): string {
  return segments.map((segment) => (typeof segment === 'string' ? segment : 'x')).join('');
}

/** A command after the colon, or one fenced block below it. */
function script(lookUp: LookUp, key: string, scope: Scope): ScriptTemplate | undefined {
  const found = lookUp(key);
  if (found === undefined) return undefined;
  const { info, value, line } = blockOf(found) ?? { info: 'sh', ...found.setting };
  if (info !== 'sh' && info !== 'bash') {
    throw badSetting(found, `has a \`\`\`${info} block, which would not run`, 'write ```sh or ```bash');
  }
  return value === '' ? undefined : compileScript({ info, code: value, line }, { ...scope, file: found.file });
}

function readInclude(lookUp: LookUp): Include[] {
  const found = lookUp('include');
  return listOf(found?.setting.value).map((entry) => {
    const isLink = entry.startsWith('link:');
    const path = (isLink ? entry.slice('link:'.length).trim() : entry).replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
    refuseInclude(found!, entry, path);
    return { path, isLink };
  });
}

function refuseInclude(found: PlacedSetting, entry: string, path: string): void {
  const problem =
    path === '' || path === '.'
      ? 'names no file'
      : leadsOut(path)
        ? 'leads out of the repository'
        : path.split('/')[0] === '.git'
          ? "is git's own folder"
          : undefined;
  if (problem === undefined) return;
  const setting = { ...found.setting, value: entry };
  const hint = 'name files that git ignores, like `.env.local, link:node_modules`';
  throw badSetting({ ...found, setting }, problem, hint);
}
