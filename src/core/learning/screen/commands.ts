import type { Author } from './author.ts';
import type { Finding } from './finding.ts';
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
    ...(prose.match(DESTRUCTION) ?? []).map((what) => `asks to destroy something: ${what}`),
    ...(prose.match(MEANS) ?? [])
      .filter((means) => !wordsOf(means).every((word) => author.stems.has(stem(word)) || isFunctionWord(word)))
      .map((means) => `speaks of something that the author's Steps do not: ${means}`),
    ...(prose.match(TRANSFER) ?? []).map((what) => `asks to send something somewhere: ${what}`),
  ].map((reason) => ({ kind: 'command', reason }));
}

const CODE_SPAN = /`+([^`]*)`+/g;

const OPTION = /(?<![\p{L}\p{N}_])--?[A-Za-z][\w-]*/gu;
const OPERATOR = /\|+|&&|>>|<<|\$\(|>\s*(?=[\p{L}./])|<\s*(?=[\p{L}./])/gu;
/** `file(s)` is prose. */
const CALL = /\b[\w.]+\((?!s\))[^)]*\)/g;

/** Where an order begins: at the start, or after one of these words. */
const ORDER = String.raw`(?:^|[.,;:!?\n]\s*|\b(?:and|then|also|to|must|should|always|please|can|first|now|or|you|may)\s+)`;
const DANGEROUS_VERB = new RegExp(
  `${ORDER}(?:re)?(?:install|uninstall|download|clone|deploy|publish|upload|push|pipe|execute|eval|exfiltrate|transmit|broadcast|encrypt|reboot|forward|send|e-?mail|mail|release|tweet|import and run)\\b`,
  'gi',
);
const DESTRUCTION =
  /\b(?:delete|remove|erase|wipe|drop|destroy|purge|overwrite|truncate)\b(?=(?:[\s,]+\w+){0,3}?[\s,]+(?:all|every|everything|entire|whole|other|repositor\w+|database|branch\w*|backups?|history|director\w+|folders?|tests?|checks?|accounts?|users?)\b)(?:[\s,]+\w+){1,4}/gi;
const TRANSFER =
  /\b(?:send|post|submit|upload|forward|transmit|leak|share|publish|report|ship|copy|mail|e-mail|hand|give|pass|deliver|stream|sync|write)(?:s|ed|ing)?\b[^.;!?]{0,80}?\b(?:to|with|at|on)\b[^.;!?]{0,20}?\b(?:servers?|partners?|webhooks?|endpoints?|channels?|clouds?|remote|internet|web ?sites?|network|clipboard|shares?|third part(?:y|ies)|slack|telegram|discord|gists?|pastes?|outside|strangers?|customers?|email|e-mail|inbox|proxy|proxies|machines?|hosts?|addresses|address below)\b/gi;

/** Ways to run programs, to reach others and to bring in their code. */
const MEANS =
  /\b(?:shells?|terminal(?! output)|(?:this|the) (?:computer|machine)|outside world|content network|deployments?|command lines?|(?:web |local |http )?servers? (?:in|on|for)|package managers?|(?:post|pre)install\w*|registr(?:y|ies) (?:in|to|of)|mirrors?|prox(?:y|ies)|tunnels?|sockets?|script (?:elements?|tags?)|iframes?|track(?:ers?|ing)|beacons?|analytics|telemetry|paste (?:pages?|sites?)|partner compan\w+|the (?:share|partner|cloud|drive)|logins? of|make (?:\w+ ){1,3}public)\b/gi;

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
const SUBCOMMAND =
  /\b(git|npm|pnpm|yarn|pip3?|cargo|docker|gh|brew|apt|apt-get|kubectl|make|go|bun|deno)\s+(push|pull|clone|fetch|reset|clean|remote|config|rm|checkout|publish|i|install|add|exec|run|x|link|login|token|uninstall|create|start|build|get|all|-\S+)\b/gi;

function toolsIn(prose: string, { texts }: Author): string[] {
  const known = texts.join('\n').toLowerCase();
  const isKnown = (tool: string) => new RegExp(`(?<![\\w-])${tool.replace(/\s+/g, '\\s+')}(?![\\w-])`).test(known);
  const names = (prose.toLowerCase().match(/[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*/gu) ?? []).filter((word) =>
    PROGRAMS.has(word),
  );
  return [...names, ...(prose.toLowerCase().match(SUBCOMMAND) ?? [])].filter((tool) => !isKnown(tool));
}

const RUN =
  /\b(?:re-?run|run|execute|launch|invoke|spawn|start|call|type|enter)(?:s|ning|ing)?\b\s+(?:it\s+)?((?:(?:the|a|an|your|its|this|that|any|all|new|also|first|only)\s+)*)(`[^`]*`|[^\s,;:!?]+)/gi;
/** What prose runs: no program that a lesson brings in. */
const RUNNABLE = new Set(
  'test tests check checks suite linter lint build compiler compilation spec specs step steps in on with from as after before against into until through over out for by at faster slower once twice later alone separately together type'.split(
    ' ',
  ),
);
const CODE_NOUNS =
  /^(?:scripts?|commands?|programs?|binar(?:y|ies)|executables?|installers?|code|macros?|payloads?|tools?|shell|terminal|server|daemon|migrations?|hooks?)\b/i;

/** What a lesson asks to run: "run the tests again" is prose, "run prettier" and "run setup.sh" bring in a program. */
function runObjects(text: string, author: Author): string[] {
  return [...text.matchAll(RUN)].flatMap(([whole, article, object]) => {
    const name = object!.replace(/[.)"']+$/, '').toLowerCase();
    const verb = wordsOf(whole)[0]!;
    const isRun = /^(?:re)?run|^exec|^launch|^invok|^spawn/.test(verb);
    if (name.startsWith('`')) return isRun && !/\(\)`$/.test(name) ? [whole] : [];
    if (PROGRAMS.has(name) || /[./\\]/.test(name)) return isRun || PROGRAMS.has(name) ? [whole] : [];
    if (!isRun) return [];
    if (CODE_NOUNS.test(name)) return author.stems.has(stem(name)) ? [] : [whole];
    const isPlain = article !== '' || RUNNABLE.has(name) || isFunctionWord(name) || author.stems.has(stem(name));
    return isPlain && !(article === '' && WORDY_PROGRAMS.has(name)) ? [] : [whole];
  });
}
