/** The words of memory from an address on, a page at a time. */
import { formatBytes } from '../../../model/quantities.ts';
import { ScrollBox } from '../../../report/html/parts/scroll-box.tsx';
import { Facts } from '../../../report/html/parts/small.tsx';
import type { WordRow } from '../../memory/questions.ts';
import { addresses } from '../../protocol.ts';
import { useAnswer } from '../heap/ask.ts';
import { hrefTo } from '../heap/place.ts';
import { addressOf, state } from '../state.ts';

const wordBytes = 8;
const pageWords = 64;
const pageBytes = pageWords * wordBytes;

export function Words({ at }: { at: string }) {
  const { answer, reason } = useAnswer({ ask: 'words', at, count: pageWords });
  // Of what is asked for, so that a key that is pressed while it is read turns from there.
  const first = Number(at) - (Number(at) % wordBytes);
  const pages = (
    <nav class="desk-links" aria-label="Pages of memory">
      {first > 0 ? (
        <a class="button" href={hrefTo({ at: hex(Math.max(0, first - pageBytes)) })} data-page="back">
          ← {formatBytes(pageBytes)} back
        </a>
      ) : null}
      <a class="button" href={hrefTo({ at: hex(first + pageBytes) })} data-page="on">
        {formatBytes(pageBytes)} on →
      </a>
    </nav>
  );
  if (reason !== undefined)
    return (
      <>
        {pages}
        <p class="gap" role="alert">
          {reason}
        </p>
      </>
    );
  if (!answer)
    return (
      <>
        {pages}
        <p role="status">reading</p>
      </>
    );
  const { region, words } = answer;
  return (
    <>
      {region ? (
        <Facts
          facts={[
            ['In', region.name || 'anonymous memory', 'wide'],
            ['From', <Region key="from" at={region.start} />],
            ['To', region.end],
            ['Access', region.access],
            ['Size', formatBytes(region.bytes)],
          ]}
        />
      ) : (
        <p class="gap">No memory of the process is at this address.</p>
      )}
      {pages}
      <ScrollBox class="table memory-table" label="Words">
        <table>
          <thead>
            <tr>
              {['Address', 'Bytes', 'Text', 'Refers to'].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {words.map((word) => (
              <Word key={word.address} word={word} />
            ))}
          </tbody>
        </table>
      </ScrollBox>
      <p class="faint caption">
        Words of 8 bytes. Texts that look like secrets are replaced by asterisks, as in every account.
      </p>
    </>
  );
}

const hex = (address: number): string => `0x${address.toString(16)}`;

const Region = ({ at }: { at: string }) => <a href={hrefTo({ at })}>{at}</a>;

function Word({ word: { address, bytes, text, value, refersTo } }: { word: WordRow }) {
  return (
    <tr>
      <td>
        <code>{address}</code>
      </td>
      {bytes === undefined ? (
        <td colSpan={3} class="faint">
          not in the core
        </td>
      ) : (
        <>
          <td>
            <code>{bytes.replace(/../g, '$& ').trim()}</code>
          </td>
          <td>
            <code class="memory-text">{text}</code>
          </td>
          <td class="what">
            {refersTo && value !== undefined ? <Refers {...refersTo} value={value} /> : null}
          </td>
        </>
      )}
    </tr>
  );
}

function Refers({ kind, text, at, value }: NonNullable<WordRow['refersTo']> & { value: string }) {
  const hasHeap = state.view === 'memory' && state.hasHeap;
  return (
    <>
      <a href={hrefTo({ at })} data-item title={value}>
        <code class={kind === 'memory' ? '' : 'memory-told'}>{kind === 'memory' ? value : text}</code>
      </a>
      {kind === 'memory' ? <span class="faint"> {text}</span> : null}
      {kind === 'object' && hasHeap && state.view === 'memory' ? (
        <>
          {' '}
          <a href={`${addressOf(addresses.heap(state.item.id))}${hrefTo({ view: 'object', at: value })}`}>
            in the heap
          </a>
        </>
      ) : null}
    </>
  );
}
