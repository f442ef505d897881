import { dismiss, notices } from '../state/notices.ts';
import { visibleText } from './visible-text.ts';

export function Notices() {
  return (
    <div class="notices" role="status">
      {notices.value.map(({ id, text, isFailure }) => (
        <div key={id} class={isFailure ? 'notice is-failure' : 'notice'}>
          <span>{visibleText(text)}</span>
          <button type="button" class="quiet" aria-label="Close" onClick={() => dismiss(id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}
