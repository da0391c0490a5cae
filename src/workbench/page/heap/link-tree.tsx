/**
 * Fields or retainers as a tree that is opened in place: each object's own below it, as far as one goes. The list shows
 * millions of rows; a branch of the tree shows the first few hundred.
 */
import { useSignal } from '@preact/signals';
import { formatBytes, formatNumber } from '../../../model/quantities.ts';
import type { LinkRow } from '../../heap/questions.ts';
import { useAnswer } from './ask.ts';
import { ObjectLink } from './objects.tsx';

type Direction = 'fields' | 'retainers';

interface BranchProps {
  ask: Direction;
  id: number;
  /** The objects from the top of the tree to this one. */
  above: readonly number[];
}

const [fewRows, mostRows] = [20, 400];

export function LinkTree({ ask, id, label }: { ask: Direction; id: number; label: string }) {
  return (
    <section class="link-tree" aria-label={label} onKeyDown={openByKey}>
      <Branch ask={ask} id={id} above={[id]} />
    </section>
  );
}

/** As in every tree: right opens, left closes. */
function openByKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const wanted = { ArrowRight: 'false', ArrowLeft: 'true' }[event.key];
  const row = (event.target as Element).closest('li');
  const button = row?.querySelector<HTMLButtonElement>(':scope > .twig > button[aria-expanded]');
  if (wanted === undefined || button?.getAttribute('aria-expanded') !== wanted) return;
  event.preventDefault();
  button.click();
}

function Branch({ ask, id, above }: BranchProps) {
  const most = useSignal(fewRows);
  const { answer, reason } = useAnswer(
    ask === 'fields'
      ? { ask, id, isRaw: false, from: 0, count: most.value }
      : { ask, id, from: 0, count: most.value },
  );
  if (reason !== undefined)
    return (
      <p class="gap" role="alert">
        {reason}
      </p>
    );
  if (!answer) return <p class="faint">…</p>;
  const hidden = answer.total - answer.rows.length;
  return (
    <>
      <ol>
        {answer.rows.map((row, n) => (
          <Twig key={n} ask={ask} row={row} above={above} />
        ))}
      </ol>
      {answer.total === 0 ? <p class="faint">There is none.</p> : null}
      {hidden > 0 && most.value < mostRows ? (
        <button
          type="button"
          class="more"
          onClick={() => {
            most.value = mostRows;
          }}
        >
          {formatNumber(hidden)} more
        </button>
      ) : hidden > 0 ? (
        <p class="faint">{formatNumber(hidden)} more are in the list of the object.</p>
      ) : null}
    </>
  );
}

function Twig({
  ask,
  row: { name, kind, object, text },
  above,
}: {
  ask: Direction;
  row: LinkRow;
  above: readonly number[];
}) {
  const isOpen = useSignal(false);
  const isAbove = object !== undefined && above.includes(object.id);
  return (
    <li>
      <div class="twig">
        {object && !isAbove ? (
          <button
            type="button"
            aria-expanded={isOpen.value}
            aria-label={`${ask} of ${object.class} @${object.id}`}
            onClick={() => {
              isOpen.value = !isOpen.value;
            }}
          >
            {isOpen.value ? '▾' : '▸'}
          </button>
        ) : (
          <span class="twig-end" />
        )}
        <span class="field-name" title={kind === undefined ? name : `${name} (${kind})`}>
          {name}
        </span>
        {object ? <ObjectLink object={object} /> : <code title={text}>{text ?? 'a number'}</code>}
        {isAbove ? <span class="faint">already above</span> : null}
        <span class="twig-size faint">{object ? formatBytes(object.retained) : ''}</span>
      </div>
      {object && isOpen.value ? <Branch ask={ask} id={object.id} above={[...above, object.id]} /> : null}
    </li>
  );
}
