/** The memory of a core: its threads and regions, and the words at an address, each with what it refers to. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formatBytes, formatCount } from '../../../model/quantities.ts';
import { ScrollBox } from '../../../report/html/parts/scroll-box.tsx';
import { CutList, Facts } from '../../../report/html/parts/small.tsx';
import type { MemorySummary } from '../../memory/questions.ts';
import { go, hrefTo, place } from '../heap/place.ts';
import { FilterField } from '../views/filter-field.tsx';
import { Threads } from './threads.tsx';
import { Words } from './words.tsx';

export const toAddress = (address: string): string => hrefTo({ at: address });

export function Memory({ summary, name }: { summary: MemorySummary; name: string }) {
  const { at } = place.value;
  return (
    <>
      <div class="tools">
        <h1>{at === undefined ? `Memory of ${name}` : <code>{at}</code>}</h1>
        <AddressField at={at} />
        {at === undefined ? null : <a href={hrefTo({})}>Threads and regions</a>}
      </div>
      {at === undefined ? <Home summary={summary} /> : <Words at={at} />}
    </>
  );
}

/** The key `/` focuses it. */
function AddressField({ at = '' }: { at: string | undefined }) {
  const typed = useSignal('');
  const problem = useSignal('');
  useEffect(() => {
    typed.value = '';
    problem.value = '';
  }, [at]);
  const jump = () => {
    const digits = /^\s*(?:0x)?([0-9a-f]{1,12})\s*$/i.exec(typed.value.replaceAll('`', ''))?.[1];
    if (digits === undefined) problem.value = 'An address is hexadecimal: 0x7ffe3f167c80';
    else go({ at: `0x${digits.toLowerCase().replace(/^0+(?=.)/, '')}` });
  };
  return (
    <>
      <input
        id="search"
        type="text"
        class="field address-field"
        placeholder="Go to an address  /"
        aria-label="Go to an address"
        autocomplete="off"
        spellcheck={false}
        value={typed.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') jump();
        }}
      />
      <span class="faint" role="status">
        {problem.value}
      </span>
    </>
  );
}

const mostRegions = 60;

function Home({ summary: { threads, regions, presentBytes, gaps } }: { summary: MemorySummary }) {
  const filter = useSignal('');
  const wanted = filter.value.toLowerCase();
  const shown = regions.filter(({ name, access, start }) =>
    `${name || 'anonymous'} ${access} ${start}`.toLowerCase().includes(wanted),
  );
  return (
    <>
      {gaps.map(({ part, reason }, n) => (
        <p key={n} class="gap">
          {part}: {reason}
        </p>
      ))}
      <Facts
        facts={[
          ['Threads', threads.length],
          ['Regions', regions.length],
          ['Readable', formatBytes(presentBytes)],
        ]}
      />
      <section aria-labelledby="threads">
        <h2 id="threads">Threads</h2>
        <Threads threads={threads} />
      </section>
      <section aria-labelledby="regions">
        <div class="tools">
          <h2 id="regions">Regions</h2>
          <FilterField
            id="filter"
            label="Filter the regions"
            hint="Filter"
            value={filter.value}
            onFilter={(text) => {
              filter.value = text;
            }}
          />
          <span class="faint" role="status">
            {formatCount(shown.length, 'region')}
          </span>
        </div>
        <ScrollBox class="table memory-table" label="List of regions">
          <table>
            <thead>
              <tr>
                {['Start', 'End', 'Access', 'What'].map((head) => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ))}
                <th scope="col" class="number">
                  Size
                </th>
                <th scope="col" class="number">
                  Readable
                </th>
              </tr>
            </thead>
            <tbody>
              <CutList
                items={shown}
                most={mostRegions}
                what="regions"
                draw={({ start, end, access, name, bytes, presentBytes: present }) => (
                  <tr key={start}>
                    <td>
                      <a href={toAddress(start)} data-item>
                        <code>{start}</code>
                      </a>
                    </td>
                    <td>
                      <code>{end}</code>
                    </td>
                    <td>
                      <code>{access}</code>
                    </td>
                    <td class="what" title={name}>
                      {name || <span class="faint">anonymous</span>}
                    </td>
                    <td class="number">{formatBytes(bytes)}</td>
                    <td class="number">{present === bytes ? 'all' : formatBytes(present)}</td>
                  </tr>
                )}
              />
            </tbody>
          </table>
        </ScrollBox>
      </section>
    </>
  );
}
