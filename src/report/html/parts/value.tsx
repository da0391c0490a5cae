/** A value from the program or the model, as a tree that unfolds; folded contents are not rendered. */
import { useSignal } from '@preact/signals';
import { clip, formatCount } from '../../../model/quantities.ts';
import { CutList, LongText } from './small.tsx';

const mostEntries = 60;
/** Objects that fit on one line need not be unfolded. */
const lineLength = 90;

export function Value({ value, open = false }: { value: unknown; open?: boolean }) {
  if (typeof value === 'string') return <LongText text={value} class="value-text" />;
  if (typeof value !== 'object' || value === null) return <code class="value-plain">{String(value)}</code>;
  const line = isSmall(value) ? JSON.stringify(value) : undefined;
  if (line !== undefined && line.length <= lineLength) return <code class="value-plain">{line}</code>;
  return <Tree value={value} open={open} />;
}

function Tree({ value, open }: { value: object; open: boolean }) {
  const isOpen = useSignal(open);
  const entries = Object.entries(value);
  return (
    <details
      class="tree"
      open={isOpen.value}
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary>{headOf(value, entries)}</summary>
      {isOpen.value ? (
        <dl>
          <CutList
            items={entries}
            most={mostEntries}
            what="entries"
            draw={([key, item]) => (
              <div key={key}>
                <dt>{clip(key, 80)}</dt>
                <dd>
                  <Value value={item} />
                </dd>
              </div>
            )}
          />
        </dl>
      ) : null}
    </details>
  );
}

function headOf(value: object, entries: readonly [string, unknown][]): string {
  if (Array.isArray(value)) return formatCount(value.length, 'item');
  const names = entries.slice(0, 6).map(([key]) => key);
  return clip(`{ ${names.join(', ')}${entries.length > 6 ? ', …' : ''} }`, lineLength);
}

/** Whether its text is certainly short, so that creating it is cheap. */
function isSmall(value: object): boolean {
  const items = Object.values(value);
  return (
    items.length <= 6 &&
    items.every((item) => (typeof item === 'string' ? item.length < lineLength : !isFilled(item)))
  );
}

const isFilled = (item: unknown): boolean =>
  typeof item === 'object' && item !== null && Object.keys(item).length > 0;
