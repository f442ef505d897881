/** The lines of two texts as ` same`, `-gone` and `+new`, by their longest common subsequence. */
export function diffLines(before: string, after: string): string[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i]![j] = a[i] === b[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
    }
  }
  const lines: string[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(` ${a[i]}`);
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && common[i + 1]![j]! >= common[i]![j + 1]!)) {
      lines.push(`-${a[i++]}`);
    } else {
      lines.push(`+${b[j++]}`);
    }
  }
  return lines;
}

/** Lines of context around a change. */
const CONTEXT = 3;
/** For larger texts, everything between the first and the last change counts as replaced. */
const COMPARED_AT_MOST = 4_000_000;

/** The changes, with a few lines of context; `@@ line N @@` where lines were left out. */
export function unifiedDiff(before: string, after: string): string[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [was, is] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const changed =
    was.length === 0 || is.length === 0 || was.length * is.length > COMPARED_AT_MOST
      ? [...was.map((line) => `-${line}`), ...is.map((line) => `+${line}`)]
      : diffLines(was.join('\n'), is.join('\n'));
  if (changed.length === 0) return [];
  const same = (lines: readonly string[]) => lines.map((line) => ` ${line}`);
  return hunks([...same(a.slice(0, start)), ...changed, ...same(end === 0 ? [] : a.slice(-end))]);
}

function hunks(lines: readonly string[]): string[] {
  const isNear = lines.map(() => false);
  for (const [at, line] of lines.entries()) {
    if (line[0] === ' ') continue;
    for (let near = Math.max(0, at - CONTEXT); near <= Math.min(lines.length - 1, at + CONTEXT); near++) {
      isNear[near] = true;
    }
  }
  let number = 0;
  return lines.flatMap((line, at) => {
    if (line[0] !== '+') number++;
    if (!isNear[at]) return [];
    return at > 0 && !isNear[at - 1] ? [`@@ line ${number} @@`, line] : [line];
  });
}
