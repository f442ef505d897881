interface FileDiff {
  readonly name: string;
  readonly lines: readonly string[];
  readonly added: number;
  readonly removed: number;
}

/** At the lines `diff --git a/NAME b/NAME`. */
export function splitFiles(text: string): FileDiff[] {
  const parts = text.split(/^(?=diff --git )/m).filter((part) => part.trim() !== '');
  return parts.map((part) => {
    const [head = '', ...lines] = part.replace(/\n$/, '').split('\n');
    const isFile = head.startsWith('diff --git ');
    const body = isFile
      ? lines.slice(
          Math.max(
            0,
            lines.findIndex((line) => line.startsWith('@@')),
          ),
        )
      : [head, ...lines];
    const count = (sign: string) => body.filter((line) => line.startsWith(sign)).length;
    return { name: isFile ? nameIn(head) : 'change', lines: body, added: count('+'), removed: count('-') };
  });
}

function nameIn(head: string): string {
  return / b\/(.*)$/.exec(head)?.[1] ?? head.slice('diff --git '.length);
}
