/** The bundles of a folder, newest first, with a filter and a selection to compare. */
import { useSignal } from '@preact/signals';
import { formatBytes, formatCount } from '../../../model/quantities.ts';
import { ScrollBox } from '../../../report/html/parts/scroll-box.tsx';
import { CutList, When } from '../../../report/html/parts/small.tsx';
import { addresses, type ItemRow } from '../../protocol.ts';
import { addressOf } from '../state.ts';
import { ChosenHead, CompareLink, useChosen } from './chosen.tsx';
import { FilterField } from './filter-field.tsx';

const mostRows = 200;

export function List({ folder, items }: { folder: string; items: readonly ItemRow[] }) {
  const filter = useSignal('');
  const { chosen, choose } = useChosen();
  const wanted = filter.value.toLowerCase();
  const shown = items.filter((item) => textOf(item).includes(wanted));
  return (
    <>
      <h1>Bundles</h1>
      <p class="lead">
        <code>{folder}</code>
      </p>
      {items.length === 0 ? (
        <p>There is no bundle in this folder yet. Load this page again to look anew.</p>
      ) : null}
      {items.length > 0 ? (
        <div class="tools">
          <FilterField
            label="Filter the bundles"
            value={filter.value}
            onFilter={(text) => {
              filter.value = text;
            }}
          />
          <span class="faint" role="status">
            {countOf(shown)}
          </span>
          <CompareLink items={items} chosen={chosen} />
        </div>
      ) : null}
      {shown.length > 0 ? (
        <ScrollBox class="table bundles" label="Bundles">
          <table>
            <ChosenHead names={['When', 'What', 'Program', 'State']} />
            <tbody>
              <CutList
                items={shown}
                most={mostRows}
                what="bundles"
                draw={(item) => (
                  <BundleRow key={item.id} item={item} isChosen={chosen.includes(item.id)} choose={choose} />
                )}
              />
            </tbody>
          </table>
        </ScrollBox>
      ) : null}
    </>
  );
}

const textOf = ({ name, program = '', verdictKind = '', error = '', state = '', at = '' }: ItemRow): string =>
  [name, program, verdictKind, error, state, at].join(' ').toLowerCase();

/** `4 bundles, 2 heap snapshots`. */
function countOf(items: readonly ItemRow[]): string {
  const heaps = items.filter(({ kind }) => kind === 'heap').length;
  const cores = items.filter(({ kind }) => kind === 'core').length;
  const bundles = items.length - heaps - cores;
  return [
    bundles > 0 || heaps + cores === 0 ? formatCount(bundles, 'bundle') : '',
    heaps > 0 ? formatCount(heaps, 'heap snapshot') : '',
    cores > 0 ? formatCount(cores, 'core') : '',
  ]
    .filter(Boolean)
    .join(', ');
}

const kinds: Record<ItemRow['kind'], string> = { bundle: '', heap: 'heap snapshot', core: 'core' };

interface BundleRowProps {
  item: ItemRow;
  isChosen: boolean;
  choose: (id: string) => void;
}

function BundleRow({
  item: { id, kind, name, at, program, verdictKind, error, bytes, gaps, state, problem },
  isChosen,
  choose,
}: BundleRowProps) {
  const headline = kind === 'bundle' ? error : name;
  return (
    <tr>
      <td>
        <input type="checkbox" aria-label={`Choose ${name}`} checked={isChosen} onChange={() => choose(id)} />
      </td>
      <td>
        <a href={addressOf(addresses.item(id))} data-item title={name}>
          <When at={at} />
        </a>
      </td>
      <td class="what">
        {headline ? <span title={headline}>{headline}</span> : null}
        <span class={headline ? 'faint' : ''}>{(verdictKind ?? kinds[kind]).replaceAll('-', ' ')}</span>
      </td>
      <td>{program}</td>
      <td>
        {[state === 'sealed' ? '' : state, gaps ? formatCount(gaps, 'gap') : '', problem]
          .filter(Boolean)
          .join(', ')}
      </td>
      <td class="number">{bytes === undefined ? '' : formatBytes(bytes)}</td>
    </tr>
  );
}
