/** The keys, in a dialog. */
import { useEffect, useRef } from 'preact/hooks';
import { keyTable } from '../keys.ts';
import { isHelpShown } from '../state.ts';

export function Help() {
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
        {keyTable.map(([key, what]) => (
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
      <p class="faint">
        Every frame, step, call and message has an address of its own: open it, and copy the link.
      </p>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
