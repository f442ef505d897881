import type { Author } from './author.ts';
import type { Finding } from './finding.ts';
import { findPhrases, phrases } from './phrases.ts';
import { KEYWORDS, PROGRAMS, WORDY_PROGRAMS } from './programs.ts';
import { isFunctionWord, stem, wordsOf } from './words.ts';

/** `text` is the lesson without the code that the author's Steps have. */
export function findCommands(text: string, author: Author): Finding[] {
  const prose = text.replace(CODE_SPAN, ' it ');
  const found = [
    ...[...text.matchAll(CODE_SPAN)].map(([, code]) => code!.trim()).filter((code) => !isHarmlessCode(code)),
    ...toolsIn(prose, author),
    ...(prose.match(OPTION) ?? []),
    ...(prose.match(OPERATOR) ?? []),
    ...(prose.match(CALL) ?? []),
    ...runObjects(text, author),
  ];
  const verbs = (prose.match(DANGEROUS_VERB) ?? []).filter((verb) => !author.stems.has(stem(wordsOf(verb).at(-1)!)));
  return [
    ...found.map((what) => `brings in a command, a tool or code that the author's Steps do not have: ${what.trim()}`),
    ...verbs.map((verb) => `asks for something that the author's Steps do not: ${wordsOf(verb).at(-1)}`),
    ...findPhrases(prose, DESTRUCTION).map((what) => `asks to destroy something: ${what}`),
    ...findPhrases(prose, MEANS)
      .filter((means) => !wordsOf(means).every((word) => author.stems.has(stem(word)) || isFunctionWord(word)))
      .map((means) => `speaks of something that the author's Steps do not: ${means}`),
    ...findPhrases(prose, TRANSFER).map((what) => `asks to send something somewhere: ${what}`),
  ].map((reason) => ({ kind: 'command', reason }));
}

const CODE_SPAN = /`+([^`]*)`+/g;

const OPTION = /(?<![\p{L}\p{N}_])--?[A-Za-z][\w-]*/gu;
const OPERATOR = /\|+|&&|>>|<<|\$\(|>\s*(?=[\p{L}./])|<\s*(?=[\p{L}./])/gu;
/** `file(s)` is prose. */
const CALL = /\b[\w.]+\((?!s\))[^)]*\)/g;

/** Where an order begins: at the start, or after one of these words. */
const ORDER = String.raw`(?:^|[.,;:!?\n]\s*|\b(?:and|then|also|to|must|should|always|please|can|first|now|or|you|may)\s+)`;
const DANGEROUS = [
  'install|uninstall|download|clone|deploy|publish|upload|push|pipe|execute|eval|exfiltrate|transmit|broadcast|encrypt',
  'reboot|forward|send|e-?mail|mail|release|tweet|buy|purchase|pay|subscribe|phone|fetch',
].join('|');
const DANGEROUS_VERB = new RegExp(`${ORDER}(?:re)?(?:${DANGEROUS})\\b`, 'gi');
const DESTRUCTION = phrases(
  String.raw`
  <destroy> (\w+ ){0,3}(all|every|everything|entire|whole|other|database|backups?|history|folders?|accounts?|users?)
  <destroy> (\w+ ){0,3}((repositor|branch|director|neighbo|adjacen|surrounding|unrelated)*|tests?|checks?)`,
  { destroy: 'delete|remove|erase|wipe|drop|destroy|purge|overwrite|truncate' },
);
const TRANSFER = phrases(
  String.raw`
  <send>(s|ed|ing)? ... (to|into|onto|with|at|on|via|through) ... <others>
  (from|off|over) (the |a |an )?(\w+ )?(internet|network|web|net|cloud|vendor)
  (ask|call|contact|reach|notify|inform|message) (the |a |an |our |your |their )?(\w+ )?<outsiders>
  (our|an?|the|other|another) (external|outside|other) (team|people|person|compan|service|part|system)*`,
  {
    send: `send|post|submit|upload|forward|transmit|leak|share|publish|report|ship|copy|e?-?mail|hand|give|pass|deliver
      stream|sync|write|drop|put|place|save|store|move|attach`,
    others: `(server|partner|webhook|endpoint|channel|cloud|share|gist|paste|stranger|customer|machine|host|web ?site)s?
      remote|internet|network|clipboard|third part(y|ies)|slack|telegram|discord|outside|e-?mail|inbox|prox(y|ies)
      addresses|address below|(vendor|client|agenc|supplier|competitor)(s|y|ies)?|cloud storage|shared (drive|storage)
      (bulletin|message) board|forum|social media`,
    outsiders: '(customer|vendor|partner|client|supplier|agenc|help ?desk|support|hotline)(s|y|ies)?',
  },
);
/** Ways to run programs, to reach others and to bring in their code. */
const MEANS = phrases(String.raw`
  (shells?|command lines?|(this|the) (computer|machine)|outside world)
  background (process|job|task|service|worker|program|thread)*
  (cron|crontab|daemon|autostart|scheduled (job|task)|watchdog)s?
  (permissions?|privileges?|access rights?|two-factor|firewall)
  (dns|subdomains?|name ?servers?)
  (private|personal|confidential) (\w+ )?(notes?|files?|documents?|messages?|mails?|photos?|information|details)
  (web |local |http )?servers? (in|on|for)
  (package managers?|(post|pre)install*|registr(y|ies) (in|to|of)|mirrors?|content network|deployments?)
  (prox(y|ies)|tunnels?|sockets?|beacons?|track(ers?|ing)|analytics|telemetry)
  (script (element|tag)s?|iframes?|paste (page|site)s?)
  (partner compan*|the (share|partner|cloud|drive)|logins? of)
  make (\w+ ){1,3}public`).concat(/\bterminal\b(?! output)/i);

/** A code span that holds a name, a file, a property, a call without effect or a phrase of a programming language. */
function isHarmlessCode(code: string): boolean {
  const lower = code.toLowerCase();
  const [first = '', ...rest] = lower.split(/\s+/);
  if (code === '' || /[|;&$\\`<>]|=>|\.\./.test(code.replace(/=>/g, ''))) return false;
  if (wordsOf(lower.replaceAll('_', '-')).some((word) => PROGRAMS.has(word)) || PROGRAMS.has(first)) return false;
  if (
    /\b(?:eval|exec\w*|spawn\w*|fetch|system|popen|require|function|settimeout|urlopen|request\w*|open)\s*\(/.test(
      lower,
    )
  ) {
    return false;
  }
  if (rest.length === 0) return !WORDY_PROGRAMS.has(first) || KEYWORDS.has(first);
  if (/(?:^|\s)--?[a-z]/.test(lower)) return false;
  if (KEYWORDS.has(first)) return true;
  // `"type": "module"`, `strict = true`
  return (
    /^["']?[\w.-]+["']?\s*[:=]\s*["']?[\w.-]+["']?,?$/.test(lower) || /^[\w.]+\([\w\s,.'"]*\)[\w.()]*$/.test(lower)
  );
}

/** Subcommands that do more than the tool's name says. */
const TOOLS = 'git|npm|pnpm|yarn|pip3?|cargo|docker|gh|brew|apt|apt-get|kubectl|make|go|bun|deno';
const SUBCOMMANDS = [
  'push|pull|clone|fetch|reset|clean|remote|config|rm|checkout|publish|i|install|add|exec|run|x|link|login|token',
  'uninstall|create|start|build|get|all',
].join('|');
const SUBCOMMAND = new RegExp(`\\b(?:${TOOLS})\\s+(?:${SUBCOMMANDS})\\b`, 'gi');

function toolsIn(prose: string, { texts }: Author): string[] {
  const known = texts.join('\n').toLowerCase();
  const isKnown = (tool: string) => new RegExp(`(?<![\\w-])${tool.replace(/\s+/g, '\\s+')}(?![\\w-])`).test(known);
  const names = (prose.toLowerCase().match(/[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*/gu) ?? []).filter((word) =>
    PROGRAMS.has(word),
  );
  return [...names, ...(prose.toLowerCase().match(SUBCOMMAND) ?? [])].filter((tool) => !isKnown(tool));
}

const RUN = new RegExp(
  '\\b(?:re-?run|run|execute|launch|invoke|spawn|start|call|type|enter)(?:s|ning|ing)?\\b\\s+(?:it\\s+)?' +
    '((?:(?:the|a|an|your|its|this|that|any|all|new|also|first|only)\\s+)*)(`[^`]*`|[^\\s,;:!?]+)',
  'gi',
);
/** What prose runs: no program that a lesson brings in. */
const RUNNABLE = new Set(
  `test tests check checks suite linter lint build compiler compilation spec specs step steps in on with from as after
  before against into until through over out for by at faster slower once twice later alone separately together type`.split(
    /\s+/,
  ),
);
const CODE_NOUNS = new Set(
  `script command program binary binaries executable installer code macro payload tool shell terminal server daemon
  migration hook`
    .split(/\s+/)
    .map(stem),
);

/** What a lesson asks to run: "run the tests again" is prose, "run prettier" and "run setup.sh" bring in a program. */
function runObjects(text: string, author: Author): string[] {
  return [...text.matchAll(RUN)].flatMap(([whole, article, object]) => {
    const name = object!.replace(/[.)"']+$/, '').toLowerCase();
    const verb = wordsOf(whole)[0]!;
    const isRun = /^(?:re)?run|^exec|^launch|^invok|^spawn/.test(verb);
    if (name.startsWith('`')) return isRun && !/\(\)`$/.test(name) ? [whole] : [];
    if (PROGRAMS.has(name) || /[./\\]/.test(name)) return isRun || PROGRAMS.has(name) ? [whole] : [];
    if (!isRun) return [];
    if (CODE_NOUNS.has(stem(name))) return author.stems.has(stem(name)) ? [] : [whole];
    const isPlain = article !== '' || RUNNABLE.has(name) || isFunctionWord(name) || author.stems.has(stem(name));
    return isPlain && !(article === '' && WORDY_PROGRAMS.has(name)) ? [] : [whole];
  });
}
