/** Shows what is being loaded and the progress. When it is done, the document is reloaded and shows the view. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { addresses, type JobEvent } from '../../protocol.ts';
import { addressOf } from '../state.ts';
import { Failed } from './failed.tsx';

/** Chromium would scroll the view to where the heading of this one was. */
function enter(): void {
  history.scrollRestoration = 'manual';
  location.reload();
}

export function Loading({ job, what }: { job: string; what: string }) {
  const last = useSignal<JobEvent>({ kind: 'progress', text: 'starting' });
  useEffect(() => {
    const source = new EventSource(addressOf(addresses.events(job)));
    source.onmessage = ({ data }) => {
      const event: JobEvent = JSON.parse(data);
      if (event.kind !== 'progress') source.close();
      if (event.kind === 'ready') enter();
      else last.value = event;
    };
    source.onerror = () => {
      source.close();
      last.value = { kind: 'failed', reason: 'the workbench has ended, or another view has ended this job' };
    };
    return () => source.close();
  }, [job]);
  const event = last.value;
  if (event.kind === 'failed') return <Failed what={what} reason={event.reason} />;
  const { text, share } = event.kind === 'progress' ? event : { text: 'drawing', share: 1 };
  return (
    <>
      <h1>{what}</h1>
      <div class="loading">
        <p role="status">{text}</p>
        <progress aria-label={text} {...(share !== undefined && { value: share })} />
        <button
          type="button"
          class="button"
          data-item
          onClick={() => {
            void fetch(addressOf(addresses.cancel(job)), { method: 'POST' });
          }}
        >
          Cancel
        </button>
      </div>
    </>
  );
}
