import { Dialog } from './dialog.tsx';

const KEYS: readonly (readonly [string, string])[] = [
  ['j, k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['/', 'search'],
  ['x', 'select the row'],
  ['r', 'retry the selected rows, or this one'],
  ['e', 'edit a cell of the row'],
  ['Esc', 'clear the selection, close a dialog, go back to the grid'],
  ['?', 'this help'],
];

const LETTERS =
  'T todo, I in_progress, Q qa, D done, F failed, B blocked behind a task that failed, H held for approval';

export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([keys, text]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p class="dim">Letters in the grid: {LETTERS}.</p>
      <p class="dim">The browser finds only what is on the screen (Ctrl+F); search with / looks in all rows.</p>
    </Dialog>
  );
}
