import { useState } from 'preact/hooks';
import { visibleText } from './visible-text.ts';

/** A command to run in a terminal, with a button that copies it. */
export function CommandLine({ command }: { readonly command: string }) {
  const [copied, setCopied] = useState('');
  const copy = () => {
    void navigator.clipboard.writeText(command).then(() => setCopied(command));
  };
  return (
    <div class="command">
      <code>{visibleText(command)}</code>
      <button type="button" class="quiet" onClick={copy}>
        {copied === command ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}
