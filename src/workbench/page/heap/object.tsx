/** One object: its value, why it is alive, what it references, its retainers, and what it keeps alive. */
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { formatBytes, formatCount } from '../../../model/quantities.ts';
import { Facts, LongText } from '../../../report/html/parts/small.tsx';
import type { ObjectView } from '../../heap/questions.ts';
import { addresses } from '../../protocol.ts';
import { addressOf, state } from '../state.ts';
import { askAhead, useAnswer } from './ask.ts';
import { LinkTree } from './link-tree.tsx';
import { firstPart } from './long-table.tsx';
import { Dominated, distanceText, Links, ObjectLink } from './objects.tsx';
import { PinButton } from './pins.tsx';
import { adjust, hrefTo, place, toClass, toTiles, treeWord } from './place.ts';

export function ObjectPage({ root }: { root: number }) {
  const { id, at } = place.value;
  return id === undefined && at !== undefined ? (
    <ObjectAt address={at} />
  ) : (
    <OneObject id={Number(id ?? root)} />
  );
}

/** Finds the object of a core at an address, and goes on there. */
function ObjectAt({ address }: { address: string }) {
  const { answer, reason } = useAnswer({ ask: 'at', address });
  useEffect(() => {
    if (answer) adjust({ view: 'object', id: String(answer.id) });
  }, [answer]);
  if (reason === undefined) return <p class="faint">…</p>;
  return (
    <p class="gap" role="alert">
      {reason}
    </p>
  );
}

function OneObject({ id }: { id: number }) {
  const { answer, reason } = useAnswer({ ask: 'object', id });
  useLayoutEffect(
    () =>
      askAhead([
        { ask: 'fields', id, isRaw: false, ...firstPart },
        { ask: 'retainers', id, ...firstPart },
        { ask: 'dominated', id, ...firstPart },
      ]),
    [id],
  );
  // The previous object stays until the next one is there: nothing flickers, and the page is changed, not made anew.
  const previous = useRef<ObjectView>(undefined);
  const view = answer ?? previous.current;
  previous.current = view;
  // The same element is not rendered again.
  const shown = useMemo(() => view && <Shown view={view} id={view.object.id} />, [view]);
  if (reason !== undefined)
    return (
      <p class="gap" role="alert">
        {reason}
      </p>
    );
  return shown ? <div aria-busy={answer === undefined}>{shown}</div> : <p class="faint">…</p>;
}

function Shown({ view, id }: { view: ObjectView; id: number }) {
  const isRaw = useSignal(false);
  const { object, value, counts, type, class: kind, dominator } = view;
  return (
    <>
      <div class="tools">
        <h1 class="object-title">
          <code>{object.class}</code> <span class="faint">@{object.id}</span>
        </h1>
        <PinButton object={object} />
      </div>
      {value.text && value.text !== object.class ? (
        <LongText text={value.text} most={400} class="value-text" />
      ) : null}
      <Facts
        facts={[
          ['Own', formatBytes(object.self)],
          ['Retained', formatBytes(object.retained)],
          ['Kind', type],
          [
            'Address',
            view.address === undefined || state.view !== 'heap' ? undefined : (
              <a
                key="address"
                href={`${addressOf(addresses.memory(state.item.id))}${hrefTo({ at: view.address })}`}
              >
                {view.address}
              </a>
            ),
          ],
          [
            'Distance',
            object.distance === null ? 'nothing strong leads to it' : distanceText(object.distance),
          ],
          [
            'Class',
            <a key="class" href={toClass(kind)}>
              all of {object.class}
            </a>,
          ],
          ['Dominated by', dominator ? <ObjectLink key="dominator" object={dominator} /> : undefined],
          [
            'Treemap',
            <a key="map" href={toTiles(id)}>
              what it keeps
            </a>,
          ],
          [
            'Written in',
            value.source
              ? `${value.source.file ?? `script ${value.source.scriptId}`}:${value.source.line}`
              : undefined,
          ],
          [
            'Allocated in',
            value.allocatedAt?.length
              ? value.allocatedAt
                  .map(({ function: name, script, line }) => `${name} (${script}:${line})`)
                  .join(', ')
              : undefined,
            'wide',
          ],
        ]}
      />
      <Path view={view} />
      <div class="sides">
        <section aria-labelledby="fields">
          <div class="tools">
            <h2 id="fields">{formatCount(counts.fields, 'field')}</h2>
            <TreeSwitch of="fields" />
            {isTree('fields') ? null : (
              <label>
                <input
                  type="checkbox"
                  checked={isRaw.value}
                  onChange={(event) => {
                    isRaw.value = event.currentTarget.checked;
                  }}
                />{' '}
                V8's own slots too
              </label>
            )}
          </div>
          {isTree('fields') ? (
            <LinkTree ask="fields" id={id} label="Tree of fields" />
          ) : (
            <Links ask="fields" id={id} isRaw={isRaw.value} label="Fields" />
          )}
          {value.lacksNumbers ? (
            <p class="faint caption">
              Numbers are not in this snapshot: V8 writes them with exposeNumericValues.
            </p>
          ) : null}
        </section>
        <section aria-labelledby="retainers">
          <div class="tools">
            <h2 id="retainers">{formatCount(counts.retainers, 'retainer')}</h2>
            <TreeSwitch of="retainers" />
          </div>
          {isTree('retainers') ? (
            <LinkTree ask="retainers" id={id} label="Tree of retainers" />
          ) : (
            <Links ask="retainers" id={id} label="Retainers" />
          )}
        </section>
      </div>
      <section aria-labelledby="dominated">
        <h2 id="dominated">It alone keeps {formatCount(counts.dominated, 'object')} alive directly</h2>
        <Dominated id={id} />
      </section>
    </>
  );
}

type Sided = 'fields' | 'retainers';

/** Kept in the address: `tree=fields,retainers`. */
const trees = (): string[] => (treeWord.value ?? '').split(',').filter(Boolean);
const isTree = (of: Sided): boolean => trees().includes(of);

function TreeSwitch({ of }: { of: Sided }) {
  return (
    <label>
      <input
        type="checkbox"
        aria-label={`${of} as a tree`}
        checked={isTree(of)}
        onChange={(event) => {
          const others = trees().filter((known) => known !== of);
          const { tree: _, ...words } = place.value;
          const shown = event.currentTarget.checked ? [...others, of] : others;
          adjust({ ...words, ...(shown.length > 0 && { tree: shown.join(',') }) });
        }}
      />{' '}
      As a tree
    </label>
  );
}

function Path({ view: { path } }: { view: ObjectView }) {
  const { steps, leftOut, text } = path;
  return (
    <section aria-labelledby="path">
      <h2 id="path">Path from the roots</h2>
      <p class="path-text">
        <code>{text}</code>
      </p>
      <details>
        <summary>{formatCount(steps.length + leftOut, 'step')}</summary>
        <ol class="path-steps">
          {steps.map(({ name, object }, n) => (
            <li key={n}>
              {leftOut > 0 && n === steps.length / 2 ? (
                <p class="faint">{formatCount(leftOut, 'step')} left out</p>
              ) : null}
              <span class="field-name">{name}</span> <ObjectLink object={object} />
            </li>
          ))}
        </ol>
      </details>
    </section>
  );
}
