const ASCII = /^[\x20-\x7e]*$/;
/** Combining marks and joiners. */
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]*$/u;
const EMOJI = /\p{Emoji_Presentation}|\uFE0F/u;
/** East Asian Wide and Fullwidth, in blocks: two columns on a terminal. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Created on demand: that takes 20 ms, and most text is ASCII. */
let segmenter: Intl.Segmenter | undefined;

function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** The width of a text on a terminal, in columns. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) width += widthOfOne(segment);
  return width;
}

/** Cuts a text to at most `width` columns, and marks the cut. */
export function cutTo(text: string, width: number): string {
  if (width <= 0) return '';
  if (widthOf(text) <= width) return text;
  let [kept, used] = ['', 0];
  for (const { segment } of graphemes(text)) {
    const more = widthOfOne(segment);
    if (used + more > width - 1) break;
    kept += segment;
    used += more;
  }
  return `${kept}…`;
}

function widthOfOne(segment: string): number {
  if (NO_WIDTH.test(segment)) return 0;
  return EMOJI.test(segment) || WIDE.test(segment) ? 2 : 1;
}
