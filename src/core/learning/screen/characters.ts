import type { Finding } from './finding.ts';

/**
 * A lesson consists of letters, digits and the punctuation of prose. Everything else can hide something: characters
 * without a shape, marks over letters, letters that look like others.
 */
const PUNCTUATION = new Set([
  ...' \n\t.,;:!?…\'"‘’“”„‚«»‹›()[]{}<>/\\|-–—‑_+*=%&@#$€£¥§°^~`©®™²³½¼¾µ×÷±≤≥≠→←↔•·©¿¡、。，：；！？（）「」',
]);

/** What NFKC changes but people use in prose. */
const USUAL_FORMS = /[\u00a0…²³½¼¾µ™‑，：；！？（）]/gu;

const SCRIPTS = [
  ...['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Hebrew', 'Arabic', 'Devanagari', 'Bengali', 'Tamil', 'Thai'],
  ...['Georgian', 'Hangul', 'Hiragana', 'Katakana', 'Han'],
].map((name) => ({ name, letter: new RegExp(`\\p{Script=${name}}`, 'u') }));

/** Japanese mixes these in one word. */
const MIXABLE = new Set(['Hiragana', 'Katakana', 'Han']);

/** Letters of the languages that use Latin; phonetic and other rare ones are used to imitate them. */
const RARE_LATIN = /(?=\p{Script=Latin})[^a-zA-Z\u00aa\u00ba\u00c0-\u017f\u0218-\u021b\u1e00-\u1eff]/u;

export function findCharacters(text: string, authorTexts: readonly string[]): Finding[] {
  const composed = text.normalize('NFC').replaceAll('\r\n', '\n');
  const scripts = scriptsOf(authorTexts.join(' '));
  const odd = [...composed].find((character) => !isAllowed(character, scripts));
  if (odd !== undefined) return [{ kind: 'hidden', reason: `holds the character ${codeOf(odd)}` }];
  const usual = composed.replace(USUAL_FORMS, ' ');
  if (usual.normalize('NFKC') !== usual) return [{ kind: 'hidden', reason: 'holds letters in disguise' }];
  const foreign = [...scriptsOf(composed)].find((script) => script !== 'Latin' && !scripts.has(script));
  if (foreign !== undefined) {
    return [{ kind: 'script', reason: `uses a script that the author's Steps do not use: ${foreign}` }];
  }
  const mixed = (composed.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).find(isMixed);
  return mixed === undefined ? [] : [{ kind: 'script', reason: `mixes scripts in one word: ${mixed}` }];
}

function isAllowed(character: string, scripts: ReadonlySet<string>): boolean {
  if (PUNCTUATION.has(character) || character === '\u00a0' || /[0-9]/.test(character)) return true;
  if (RARE_LATIN.test(character)) return false;
  // Marks that are not part of a letter after composing belong to scripts that need them.
  if (/\p{M}/u.test(character)) return [...scripts].some((script) => !/Latin|Greek|Cyrillic/.test(script));
  return /\p{L}/u.test(character) && !/[\u115f\u1160\u3164\uffa0]/.test(character);
}

function scriptsOf(text: string): Set<string> {
  return new Set(SCRIPTS.filter(({ letter }) => letter.test(text)).map(({ name }) => name));
}

function isMixed(word: string): boolean {
  const scripts = [...scriptsOf(word)];
  return scripts.length > 1 && !scripts.every((script) => MIXABLE.has(script)) && !isSuffixed(word);
}

/** Chinese and Japanese put no space around Latin words. */
function isSuffixed(word: string): boolean {
  return /^[a-z0-9\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+$/iu.test(word);
}

function codeOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}
