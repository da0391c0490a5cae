/** The selected rows of a list, and the link that compares them. */
import { useSignal } from '@preact/signals';
import { addresses, type ItemRow } from '../../protocol.ts';
import { addressOf } from '../state.ts';

/** For heaps; for bundles two. */
const mostChosen = 3;

export interface Chosen {
  /** Ids, in the order of selection. */
  chosen: readonly string[];
  /** Selects a row, or unselects it. */
  choose: (id: string) => void;
}

export function useChosen(): Chosen {
  const chosen = useSignal<readonly string[]>([]);
  const choose = (id: string) => {
    const others = chosen.value.filter((other) => other !== id);
    chosen.value = others.length < chosen.value.length ? others : [...others, id].slice(-mostChosen);
  };
  return { chosen: chosen.value, choose };
}

interface CompareLinkProps {
  /** Newest first. */
  items: readonly Pick<ItemRow, 'id' | 'kind'>[];
  chosen: readonly string[];
  /** What can be selected here. */
  hint?: string;
}

const usualHint = 'Choose two bundles, or two or three heap snapshots, to compare them.';

/** Earlier first, whichever was selected first. */
export function CompareLink({ items, chosen, hint = usualHint }: CompareLinkProps) {
  const picked = items.filter(({ id }) => chosen.includes(id)).reverse();
  const ids = picked.map(({ id }) => id);
  const isHeaps = picked.every(({ kind }) => kind === 'heap');
  const isBundles = picked.every(({ kind }) => kind === 'bundle');
  const [before, after] = ids;
  if (before === undefined || after === undefined || !(isHeaps || (isBundles && ids.length === 2)))
    return <span class="faint">{hint}</span>;
  const address = isHeaps ? addresses.growth(...ids) : addresses.diff(before, after);
  return (
    <a class="button" data-compare href={addressOf(address)}>
      Compare the {ids.length === 2 ? 'two' : 'three'}
    </a>
  );
}

/** The head of a table whose rows can be selected, and whose last column is a size. */
export const ChosenHead = ({ names }: { names: readonly string[] }) => (
  <thead>
    <tr>
      <th scope="col">
        <span class="hidden">Chosen</span>
      </th>
      {names.map((name) => (
        <th key={name} scope="col">
          {name}
        </th>
      ))}
      <th scope="col" class="number">
        Size
      </th>
    </tr>
  </thead>
);
