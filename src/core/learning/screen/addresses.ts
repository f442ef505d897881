import type { Finding } from './finding.ts';
import { findPhrases, phrases } from './phrases.ts';

/** Endings of file names. A few (`md`, `py`, `rs`) are also top-level domains: such a name counts as a file. */
const ENDING_NAMES = [
  '[cm]?[jt]sx?|json5?|jsonc|md|mdx|txt|csv|tsv|ya?ml|toml|xml|html?|s?css|less|svg|png|jpe?g|gif|webp|pdf|py|rb|rs|go',
  'java|kt|swift|php|c|h|cpp|hpp|cs|vue|svelte|sql|lock|log|ini|cfg|conf|snap|map|po|docx?|xlsx?|ipynb|graphql|proto',
  'gradle|ejs|hbs',
].join('|');
const ENDINGS = new RegExp(`\\.(?:${ENDING_NAMES})$`, 'i');

const DOTTED = /(?<![\p{L}\p{N}_./@-])[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+(?![\p{L}\p{N}_])/gu;
const ABBREVIATION = /^(?:e\.g|i\.e|a\.m|p\.m|u\.s|no\.\d+|etc)$/i;
/** The usual top-level domains; in code, every ending of two letters counts too, as countries have them. */
const TOP_LEVEL = [
  'com|net|org|edu|gov|mil|int|arpa|info|biz|name|pro|mobi|xyz|top|site|online|store|shop|tech|space|website|live|life',
  'world|today|news|blog|club|fun|icu|vip|win|link|click|page|pages|app|dev|cloud|host|hosting|run|sh|zip|mov|ninja',
  'agency|studio|design|digital|media|network|systems|solutions|services|support|email|chat|team|work|works|zone|tools',
  'software|computers?|domains|download|stream|social|global|group|company|center|expert|guru|rocks|lol|wtf|onion',
  'local|localhost|internal|intranet|lan|corp|home|private|test|example|invalid',
  'io|ai|co|me|to|ru|cn|de|uk|eu|us|tk|cc|ws',
].join('|');
const TOP_LEVEL_WORD = new RegExp(`^(?:${TOP_LEVEL})\\b`, 'i');
/** `example dot com`, `example[.]com` */
const SPELLED_HOST = new RegExp(
  `\\b[\\w-]+\\s*(?:\\bdot\\b|\\bpunkt\\b|\\[\\.\\]|\\(\\.\\))\\s*(?:${TOP_LEVEL})\\b`,
  'gi',
);

export function isTopLevel(word: string): boolean {
  return TOP_LEVEL_WORD.test(word);
}

export function findAddresses(text: string): Finding[] {
  const found = [
    ...matches(text, /\b[a-z][a-z\d+.-]*:\/\/\S*/gi, 'an address'),
    ...matches(text, /(?<!\S)["'(]*\/\/[\p{L}\d]\S*/gu, 'an address'),
    ...matches(text, /\b(?:h[tx]{2}ps?|ftp|s?ftp|mailto|data|javascript|file|ssh|git|wss?|tel):\S+/gi, 'an address'),
    ...matches(text, /\bwww\d?\.\S+/gi, 'a host'),
    ...matches(text, /\bh\s?t\s?t\s?p\s?s?\s*:/gi, 'an address'),
    ...matches(text, /[^\s@]+@[^\s@]*\p{L}[^\s@]*\.\p{L}+/gu, 'an e-mail address'),
    ...matches(text, /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/g, 'an IP address'),
    ...matches(text, /(?<![\p{L}\d:])(?:[\da-f]{1,4}:){2,}[\da-f:]*|::[\da-f]{1,4}\b/giu, 'an IP address'),
    ...matches(text, /\blocalhost\b|\b[\p{L}\d-]+:\d{2,5}\b/giu, 'a host'),
    ...matches(text, SPELLED_HOST, 'a host'),
    ...(text.replace(MEMBER, codeOfMember).match(DOTTED) ?? [])
      .filter(isHost)
      .map((host) => `names a host that the author's Steps do not have: ${host}`),
  ];
  return found.map((reason) => ({ kind: 'address', reason }));
}

function matches(text: string, pattern: RegExp, what: string): string[] {
  return (text.match(pattern) ?? []).map(
    (found) => `names ${what} that the author's Steps do not have: ${found.trim()}`,
  );
}

/** `vi.mock` in code; a host would end in a top-level domain. */
const MEMBER = /`([\p{L}_][\w]*(?:\.[\p{L}_][\w]*)+)(?:\(\))?`/gu;

function codeOfMember(span: string, name: string): string {
  const last = name.split('.').at(-1)!;
  return last.length === 2 || isTopLevel(last) ? span : 'it';
}

/** `vi.useFakeTimers` is code, `package.json` a file, `1.2.3` a version. Anything else could be a host. */
function isHost(token: string): boolean {
  if (ENDINGS.test(token) || ABBREVIATION.test(token)) return false;
  const last = token.split('.').at(-1)!;
  // `React.memo`: a member of something that has a name.
  if (/^\p{Lu}\p{Ll}/u.test(token) && !isTopLevel(last)) return false;
  return /^\p{L}{2,}$/u.test(last) && !/\p{Ll}\p{Lu}/u.test(token);
}

export function findPaths(text: string): Finding[] {
  const found = [
    ...(text.match(/(?<![\p{L}\p{N}_.)}\]/<-])\/[\p{L}\p{N}_.~{-]\S*/gu) ?? []),
    ...(text.match(/(?<![\p{L}\p{N}])~(?:\/\S*|\w+\/\S*|(?=\s|$))/gu) ?? []),
    ...(text.match(/(?<![.\p{L}\p{N}])\.\.(?:[/\\]\S*|(?=\s|$))/gu) ?? []),
    ...(text.match(/\S*\/\.\.\S*/g) ?? []),
    ...(text.match(/\b[a-z]:[\\/]\S*|\\\\\S+/gi) ?? []),
    ...(text.match(/(?<![\p{L}\p{N}_.)}\]])\.[\p{L}_][\p{L}\p{N}_.-]*(?:\/\S*)?|\S*\/\.[\p{L}_]\S*/gu) ?? []).filter(
      isHiddenFile,
    ),
    ...findPhrases(text, OUTSIDE),
  ];
  return found.map((path) => ({
    kind: 'path',
    reason: `names a place outside of the working folder or a hidden file: ${path.trim()}`,
  }));
}

const OUTSIDE = phrases(
  `
  (parent|home|root|system|user|user's|users|desktop|downloads?|upper) (folder|directory|directories|drive)
  (outside|above|out) (of )?(the|this) <area>
  (folder|directory|level)s? up
  other (repositor|project|workspace)*
  (desktop|ssh keys?|key ?chain)`,
  { area: 'working folder|folder|repository|project|workspace' },
);

/** Files with a dot in front that only say how a file is laid out. */
const LAYOUT_FILES = /^\.(?:editorconfig|gitignore|gitattributes|nvmrc|prettierrc|eslintrc|node-version)\b/i;

/** `.test.ts` is an ending, `.env` a file. */
function isHiddenFile(token: string): boolean {
  const name = token.replace(/[.,;:!?)"'`]+$/, '');
  return !(name.startsWith('.') && !name.includes('/') && (ENDINGS.test(name) || LAYOUT_FILES.test(name)));
}

const ENVIRONMENT = [
  /\$\{?\(?[\p{L}_]\w*\}?/gu,
  /%[\p{L}_]\w*%/gu,
  /\{?\benv:\w+\}?/giu,
  /\b(?:process|import\.meta|deno|bun)\.env\b\S*|\bos\.(?:environ|getenv)\b\S*|\bgetenv\b|\benviron\b/gi,
  /\benv(?:ironment)?[ -]?var(?:iable)?s?\b/gi,
  /\b[A-Z][A-Z0-9]*_(?:[A-Z0-9_]*_)?(?:KEY|TOKEN|SECRET|PASSWORD|PASS|PWD|USER|HOME|PATH|DIR|URL|HOST)S?\b/g,
  // An assignment, as before a command.
  /\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+=\S+|\b(?:in|from|of|to) (?:the|your|its) environment\b/gi,
  /\b(?:log|sign)(?:s|ged|ging|ing)? ?(?:in|on|into)\b(?! (?:form|page|button|link|screen|dialog)s?)/gi,
  /\b(?:passwords?|passphrases?|credentials?|secrets?|auth(?:entication)? tokens?|session cookies?)\b/gi,
  /\b(?:api|access|private|ssh|signing|secret)[ -](?:keys?|tokens?)\b/gi,
];

export function findEnvironment(text: string): Finding[] {
  return ENVIRONMENT.flatMap((pattern) => text.match(pattern) ?? []).map((found) => ({
    kind: 'environment',
    reason: `names a variable of the environment or a credential: ${found.trim()}`,
  }));
}
