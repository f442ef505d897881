import { resolve } from 'node:path';
import { type ShiftHandle, task } from '../harness.ts';
import { RepositoryProject } from './repository-project.ts';

export type TrickAgent = 'shell' | 'command' | 'acp';

const COMMIT = 'git -c user.name=x -c user.email=x@y.z commit -q --allow-empty -m evil';
/** What makes `git push` fail is in the environment. */
const FREELY = 'env -u GIT_CONFIG_COUNT git';

/**
 * A repository with a remote, and shifts whose agents try something in their first attempt. In every attempt they do
 * their work, too.
 */
export class TrickProject extends RepositoryProject {
  readonly main = this.path('repository');
  readonly remote = this.path('remote.git');
  /** What a hook or a filter of an agent makes. */
  readonly evil = this.path('evil');
  readonly tricks: Record<string, string>;
  /** Has a folder for each row that has begun, and `NAME-again` if it had to try again. */
  readonly begun = this.path('begun');

  constructor() {
    super();
    this.git('repository', 'commit', '-q', '--allow-empty', '-m', 'second');
    this.git('repository', 'push', '-q', 'origin', 'main');
    const hook = `${this.main}/.git/hooks/pre-commit`;
    this.tricks = {
      victim: ':',
      push: `${COMMIT}; git push -q origin HEAD:main || git push -q ${this.remote} HEAD:main || :`,
      'forced-push': `${COMMIT}; ${FREELY} push -q ${this.remote} HEAD:main`,
      'own-push': `${COMMIT}; ${FREELY} push -q origin HEAD`,
      neighbour: 'echo evil > ../1-victim/evil.txt',
      checkout: `echo evil > ${this.main}/a.txt`,
      hooks: `printf '#!/bin/sh\\ntouch ${this.evil}\\n' > ${hook}; chmod +x ${hook}`,
      'hooks-path': `git config core.hooksPath ${this.main}/evil-hooks`,
      filters: `echo '* filter=evil' > .gitattributes; git config filter.evil.clean 'touch ${this.evil}; cat'`,
      links: `ln -s ${this.main} out; ln -s ${this.main}/a.txt link.txt`,
      removal: 'cd /; rm -rf "$NIGHTSHIFT_WORKSPACE"; exit 0',
      huge: 'truncate -s 5G huge.bin',
      'own-branch': `${COMMIT}; git checkout -q --detach; git branch -q -f "$NIGHTSHIFT_BRANCH" "$NIGHTSHIFT_BASE~1"`,
      'other-branch': `${COMMIT}; git branch -q -f nightshift/night/victim HEAD`,
      'main-branch': `${COMMIT}; git update-ref refs/heads/main HEAD`,
    };
  }

  /** A row for each trick. */
  night(
    agent: TrickAgent,
    names: readonly string[],
    settings: Record<string, string | number | boolean> = {},
  ): ShiftHandle {
    const { begun } = this;
    const scripts = names.map((name, i) => {
      const again = `mkdir -p ${begun}/${name}-again; rm -f huge.bin .gitattributes`;
      const first = `mkdir -p ${begun}/${name}; ${this.tricks[name]}`;
      const work = `echo work >> ${name}.txt`;
      const isAgain = `test -e ${begun}/${name} || test "\${NIGHTSHIFT_ATTEMPT:-1}" != 1`;
      const script = `if ${isAgain}; then ${again}; else ${first}; fi\n${work}\n`;
      this.write(`scripts/${i + 1}.sh`, script);
      this.write(`scripts/${i + 1}.first.json`, JSON.stringify(`${first}\n${work}`));
      this.write(`scripts/${i + 1}.json`, JSON.stringify(`${again}\n${work}`));
      return script;
    });
    const folder = this.path('scripts');
    const report = `echo '{"overall_status": "SUCCESS"}'`;
    const programs = {
      shell: {},
      command: { command: `cat > /dev/null; sh ${folder}/$NIGHTSHIFT_ROW.sh > /dev/null; ${report}` },
      acp: { 'acp-command': `sh ${resolve('test/fixtures/acp-agent.sh')} ${folder}` },
    };
    const cases = scripts.map((script, i) => `${i + 1}) ${script} ;;`).join('\n');
    const step = `\`\`\`sh\ncase $NIGHTSHIFT_ROW in\n${cases}\nesac\n\`\`\``.replace(/^/gm, '   ');
    const work = task({
      configuration: '- tools: bash',
      steps: `1. Do it\n\n${step}`,
      validation: '- It is clean\n\n  ```sh\n  test -s "{name}.txt" && test ! -e evil.txt\n  ```',
    });
    return this.shift('night', {
      settings: {
        ...{ agent, ...programs[agent], attempts: 2, 'working-dir': 'repository', workspace: 'worktree' },
        ...settings,
      },
      table: `name,work\n${names.map((name) => `${name},todo\n`).join('')}`,
      tasks: { work },
    });
  }
}
