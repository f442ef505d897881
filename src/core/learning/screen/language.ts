import type { Author } from './author.ts';
import type { Finding } from './finding.ts';
import { isFunctionWord, sentencesOf, stem, wordsOf } from './words.ts';

/** Frequent small words of other languages that English has not. */
const FOREIGN_WORDS = new Set(
  `der die das dem den des und ist sind nicht ein eine einen einer auf für mit von zu zum zur im aus bei nach wird werden
  sich auch alle allen jede jedes jeden keine kein ohne über vor wenn dann nur oder aber
  le la les du un une et est pas ne ce cette ces dans pour avec sur au aux que qui tous toutes chaque sans il ils elle sont
  el los las una y es por para con del al cada todos todas sin lo se su esta este
  gli di che per non della dei ogni tutti tutte senza sono questo
  o os um uma não com da dos das sem e à
  de het een van en niet elke zonder met voor
  i w na nie z do jest się wszystkie ve bir tüm bu och att inte över det som til ikke og`.split(/\s+/),
);
// These are English too, or names of variables.
for (const word of ['do', 'i', 'e', 'o', 'y', 'w', 'z', 'per', 'se', 'as']) FOREIGN_WORDS.delete(word);

/** Small words that English shares with other languages: they tell nothing. */
const SHARED_WORDS = new Set('a an as do i in me no on so us was is all her his'.split(' '));

/** The most frequent English words beyond the small ones: a short sentence may have no other sign of its language. */
const FREQUENT_WORDS = new Set(
  `use need keep leave make take give get put set go come see look find show tell know think want work call try ask turn
  start stop run move write read open close add remove change check help mean become follow begin stay hold break send
  name word line text page file list part place point case way day time year end side head hand number thing people
  new old good bad big small long short high low early late large great same different right left wrong empty full
  single double nested whole own true false four five six seven eight nine ten zero hundred
  inside outside within upon above below behind beside along across toward towards except like unlike per
  always often usually sometimes together apart away back well better best badly slowly quickly only
  should would could might must`
    .split(/\s+/)
    .map(stem),
);
/** Letters that are frequent in English words and rare elsewhere. */
const ENGLISH_SPELLING = /th|wh|sh(?!ch)|ck|oo|ea|ew|ow|ght|ly$|ing$|ness$|ful$|less$/;

/**
 * The usual orders of an injection in languages that the author's Steps may be written in: ignore, skip, instructions,
 * send to.
 */
const FOREIGN_ORDERS =
  /ignorier|missacht|überspring|anweisung|vergiss|weglassen|auslassen|(?:schick|send)e\b|ignorez|oublie|saute[rz]?\b|consigne|envoie|envoye[rz]|ignora(?:r|d)?\b|omit[aei]r?\b|instrucci|instruç|istruzion|olvida|env[ií]a|salta(?:r|re)?\b|invia|pule\b|pular|esqueça|negeer|aanwijzing|instructies|overslaan|игнорир|пропуст|инструкц|указани|отправ|забудь|не запускай|忽略|无视|無視|跳过|跳過|指令|指示|发送到|發送|不要运行|送信|スキップ|무시|건너|지시|보내|تجاهل|التعليمات|अनदेखा|निर्देश/iu;

const FEWEST_WORDS = 4;

/** A lesson is in English or in the language of the author's Steps, so that the other rules can read it. */
export function findLanguage(text: string, author: Author): Finding[] {
  const order = FOREIGN_ORDERS.exec(text);
  if (order !== null) return [{ kind: 'language', reason: `holds an order in another language: ${order[0]}` }];
  if (isForeign(author.texts.join(' '))) return [];
  const foreign = sentencesOf(text.replace(/`[^`]*`/g, ' it '))
    .flatMap((sentence) => sentence.split(/[()"“”„«»]|,\s/))
    .find((part) => isForeign(part) || isUnknown(part, author));
  if (foreign === undefined) return [];
  return [{ kind: 'language', reason: `is not in the language of the author's Steps: ${foreign.trim()}` }];
}

function isForeign(text: string): boolean {
  const words = wordsOf(text);
  const foreign = words.filter((word) => FOREIGN_WORDS.has(word)).length;
  const english = words.filter(isFunctionWord);
  const own = english.filter((word) => !SHARED_WORDS.has(word)).length;
  return foreign > 0 && words.length > 1 && (foreign >= english.length || foreign > own);
}

/** Neither a small word of English nor a word of the author's: another language, or no language at all. */
function isUnknown(text: string, { stems }: Author): boolean {
  const words = wordsOf(text).filter((word) => /\p{Script=Latin}/u.test(word));
  const isKnown = (word: string) => isFunctionWord(word) || stems.has(stem(word)) || FREQUENT_WORDS.has(stem(word));
  return words.length >= FEWEST_WORDS && !words.some(isKnown) && !looksEnglish(words);
}

function looksEnglish(words: readonly string[]): boolean {
  return words.filter((word) => ENGLISH_SPELLING.test(word)).length * 2 >= words.length;
}
