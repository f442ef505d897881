import { fillScript, type ScriptTemplate } from '../language/shell-template.ts';
import { fillTemplate, type Template, type Values } from '../language/template.ts';
import type { Script, Text } from '../model/model.ts';

/**
 * `shared`: all items work in `working-dir` itself. `none`: each dev and each qa has an empty folder, which is removed:
 * the work is elsewhere, such as in a service.
 */
export const WORKSPACE_KINDS = ['shared', 'none', 'worktree', 'clone', 'copy'] as const;
export type WorkspaceKind = Exclude<(typeof WORKSPACE_KINDS)[number], 'shared' | 'none'>;

export const DELIVERY_KINDS = ['none', 'branch', 'merge', 'push', 'pr', 'patch'] as const;
export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

/** Which workspace a row gets, with placeholders. All tasks of a row share it. Plain JSON: an order carries it. */
export interface WorkspaceTemplate {
  readonly kind: WorkspaceKind;
  /** For a clone: an address or a path. */
  readonly repo?: Template;
  /** Absent: HEAD of the repository; for a clone, the default branch of the remote. */
  readonly base?: Template;
  /** Absent: `nightshift/<shift>/<slug of the row>`. */
  readonly branch?: Template;
  readonly include: readonly Include[];
  /** Prepares a fresh workspace. */
  readonly setup?: ScriptTemplate;
  /** `workspaces-dir`, as written; absent: in the state folder of the person. */
  readonly folder?: string;
  readonly delivery: DeliveryTemplate;
}

/** A file or folder that git ignores and that a workspace gets all the same. */
export interface Include {
  /** Relative to the top of the repository; may be a glob. */
  readonly path: string;
  readonly isLink: boolean;
}

export interface DeliveryTemplate {
  readonly kind: DeliveryKind;
  /** For `merge`: the branch that receives it, without `refs/heads/`. For `pr`: the base of the pull request. */
  readonly into?: Template;
  /** `approved`: the result waits for `nightshift deliver`. */
  readonly when: 'done' | 'approved';
  /** How many a run delivers; absent: all. */
  readonly most?: number;
  readonly author?: Template;
  readonly message?: Template;
  readonly title?: Template;
  readonly body?: Template;
  /** Opens a pull request in place of `gh` and `glab`. */
  readonly prCommand?: ScriptTemplate;
}

/** The workspace of one row, with the values of its placeholders. Secrets still stand by name. */
export interface FilledWorkspace {
  readonly kind: WorkspaceKind;
  readonly repo?: Text;
  readonly base?: Text;
  readonly branch?: Text;
  readonly include: readonly Include[];
  readonly setup?: Script;
  readonly folder?: string;
  readonly delivery: FilledDelivery;
}

interface FilledDelivery {
  readonly kind: DeliveryKind;
  readonly into?: Text;
  readonly when: 'done' | 'approved';
  readonly most?: number;
  readonly author?: Text;
  readonly message?: Text;
  readonly title?: Text;
  readonly body?: Text;
  readonly prCommand?: Script;
}

export function fillWorkspace(template: WorkspaceTemplate, values: Values): FilledWorkspace {
  const { repo, base, branch, setup, delivery, ...fixed } = template;
  return {
    ...fixed,
    ...filled({ repo, base, branch }, values),
    ...(setup === undefined ? {} : { setup: fillScript(setup, values) }),
    delivery: fillDelivery(delivery, values),
  };
}

function fillDelivery(template: DeliveryTemplate, values: Values): FilledDelivery {
  const { into, author, message, title, body, prCommand, ...fixed } = template;
  return {
    ...fixed,
    ...filled({ into, author, message, title, body }, values),
    ...(prCommand === undefined ? {} : { prCommand: fillScript(prCommand, values) }),
  };
}

function filled<K extends string>(
  templates: Record<K, Template | undefined>,
  values: Values,
): Partial<Record<K, Text>> {
  const entries = Object.entries<Template | undefined>(templates).flatMap(([key, template]) =>
    template === undefined ? [] : [[key, fillTemplate(template, values)] as const],
  );
  return Object.fromEntries(entries) as Partial<Record<K, Text>>;
}
