// Makes a release: `npm run release -- VERSION [--dry-run]`. Refuses anything that is not ready, before it changes a file.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const CHANGES = 'CHANGELOG.md';
const HEADING = /^## (.+)$/gm;
const DATED = /^(\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}$/;

const args = process.argv.slice(2);
const isDryRun = args.includes('--dry-run');
const [version, ...rest] = args.filter((arg) => arg !== '--dry-run');
const today = new Date().toISOString().slice(0, 10);

if (version === undefined || rest.length > 0 || !/^\d+\.\d+\.\d+$/.test(version)) {
  refuse('usage: npm run release -- VERSION [--dry-run], with a version such as 0.2.0');
}
const tag = `v${version}`;
if (git('status', '--porcelain') !== '') refuse('the working tree is not clean: commit or stash your changes');
if (git('tag', '--list', tag) !== '') refuse(`the tag ${tag} exists: choose another version`);
const changes = readFileSync(CHANGES, 'utf8');
checkChanges(changes);

if (isDryRun) {
  console.log(`ready to release ${version}. Without --dry-run, this would`);
  console.log('- run `npm run check`');
  console.log(`- set the version to ${version} in package.json and package-lock.json`);
  console.log(`- turn "Unreleased" in ${CHANGES} into "${version} - ${today}"`);
  console.log(`- commit, and tag the commit ${tag}`);
  process.exit(0);
}
if (spawnSync('npm', ['run', 'check'], { stdio: 'inherit' }).status !== 0) refuse('`npm run check` failed');
execFileSync('npm', ['version', version, '--no-git-tag-version'], { stdio: ['ignore', 'ignore', 'inherit'] });
writeFileSync(CHANGES, changes.replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version} - ${today}`));
git('commit', '--quiet', '--all', '--message', `Release ${version}`);
git('tag', '--annotate', tag, '--message', `Release ${version}`);
console.log(`released ${version} as ${tag}. To publish it: git push --follow-tags`);

/** The first section is Unreleased and says something; all others are dated versions, older than this one. */
function checkChanges(text) {
  const [first, ...others] = [...text.matchAll(HEADING)].map(({ 1: heading, index }) => ({ heading, index }));
  if (first?.heading !== 'Unreleased') refuse(`${CHANGES} does not begin with a section "## Unreleased"`);
  const entries = text.slice(first.index, others[0]?.index).match(/^- \S/gm);
  if (entries === null) refuse(`"Unreleased" in ${CHANGES} has no entries: say what a user gets`);
  for (const { heading } of others) {
    const released = DATED.exec(heading)?.[1];
    if (released === undefined) refuse(`"${heading}" in ${CHANGES} has no date: write "## VERSION - YYYY-MM-DD"`);
    if (!isNewer(version, released)) refuse(`${version} is not newer than ${released} in ${CHANGES}`);
  }
}

function isNewer(version, other) {
  const [a, b] = [version, other].map((each) => each.split('.').map(Number));
  const differs = a.findIndex((number, i) => number !== b[i]);
  return differs >= 0 && a[differs] > b[differs];
}

function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}

function refuse(reason) {
  console.error(`error: ${reason}`);
  process.exit(2);
}
