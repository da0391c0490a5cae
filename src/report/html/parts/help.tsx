/** The keys, in a dialog. */
import { useEffect, useRef } from 'preact/hooks';
import { isHelpShown } from '../state.ts';

interface HelpProps {
  keys: readonly [key: string, what: string][];
  note: string;
}

export function Help({ keys, note }: HelpProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isHelpShown.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isHelpShown.value]);
  return (
    <dialog
      ref={dialog}
      class="help"
      aria-labelledby="help-title"
      onClose={() => {
        isHelpShown.value = false;
      }}
    >
      <h2 id="help-title">Keys</h2>
      <dl>
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key.split('  ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="faint">{note}</p>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
