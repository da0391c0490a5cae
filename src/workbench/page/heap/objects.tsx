/** An object on one line, and lists of objects. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { formatBytes } from '../../../model/quantities.ts';
import type { LinkRow, ObjectOrder, ObjectRow, Part } from '../../heap/questions.ts';
import { useAnswer } from './ask.ts';
import { type Column, LongTable, Total } from './long-table.tsx';
import { hrefTo, place, toObject } from './place.ts';

export function ObjectLink({ object: { id, class: name, text } }: { object: ObjectRow }) {
  const isTold = text !== name && text !== '';
  return (
    <a class="object" href={toObject(id)} data-item title={text}>
      <span class="object-class">{name}</span> <span class="object-id">@{id}</span>
      {isTold ? <span class="object-text"> {text}</span> : null}
    </a>
  );
}

const sizeColumns: readonly Column[] = [
  { name: 'Own', isNumber: true },
  { name: 'Retained', isNumber: true },
];

const sizeCells = ({ self, retained }: ObjectRow): ComponentChildren[] => [
  formatBytes(self),
  formatBytes(retained),
];

export const distanceText = (distance: number | null): string =>
  distance === null ? 'none' : distance >= 100_000_000 ? 'V8 only' : String(distance);

const orders: readonly { order: ObjectOrder; name: string; isNumber?: boolean }[] = [
  { order: 'id', name: 'Object' },
  { order: 'distance', name: 'Distance', isNumber: true },
  { order: 'self', name: 'Own', isNumber: true },
  { order: 'retained', name: 'Retained', isNumber: true },
];

/** The objects of a class, or all. */
export function Objects() {
  const { class: kindWord, sort = 'retained' } = place.value;
  const total = useSignal<number | undefined>(undefined);
  const kind = kindWord === undefined ? undefined : Number(kindWord);
  const order = orders.find((known) => known.order === sort)?.order ?? 'retained';
  const className = useClassName(kind);
  return (
    <>
      <div class="tools">
        <h1>{kind === undefined ? 'All objects' : <code>{className ?? '…'}</code>}</h1>
        <Total total={total.value} what="object" />
        {className === undefined ? null : (
          <a href={hrefTo({ view: 'query', q: `from ${JSON.stringify(className)} ` })}>
            Filter or group them
          </a>
        )}
      </div>
      <LongTable<ObjectRow>
        label="Objects"
        what="object"
        columns={orders.map(({ order: own, name, isNumber }) => ({
          name,
          ...(isNumber ? { isNumber } : { isWide: true }),
          sort: { isOn: own === order, href: hrefTo({ ...place.value, sort: own }) },
        }))}
        question={(part: Part) => ({
          ask: 'objects',
          ...(kind !== undefined && { class: kind }),
          sort: order,
          ...part,
        })}
        cells={(row) => [
          <ObjectLink key="object" object={row} />,
          distanceText(row.distance),
          ...sizeCells(row),
        ]}
        onTotal={(count) => {
          total.value = count;
        }}
      />
    </>
  );
}

/** Undefined until it is known. */
function useClassName(kind: number | undefined): string | undefined {
  const { answer } = useAnswer({
    ask: 'objects',
    ...(kind !== undefined && { class: kind }),
    sort: 'retained',
    from: 0,
    count: 1,
  });
  return answer?.className;
}

/** References: the name of each, and the object at its other end. */
export function Links({
  ask: asked,
  id,
  isRaw = false,
  label,
}: {
  ask: 'fields' | 'retainers';
  id: number;
  isRaw?: boolean;
  label: string;
}) {
  return (
    <LongTable<LinkRow>
      label={label}
      what="reference"
      most={14}
      columns={[
        { name: asked === 'fields' ? 'Field' : 'By' },
        { name: 'Object', isWide: true },
        ...sizeColumns,
      ]}
      question={(part) =>
        asked === 'fields' ? { ask: 'fields', id, isRaw, ...part } : { ask: 'retainers', id, ...part }
      }
      cells={({ name, kind, object, text }) => [
        <span key="name" class="field-name" title={kind === undefined ? name : `${name} (${kind})`}>
          {name}
        </span>,
        object ? (
          <ObjectLink key="object" object={object} />
        ) : text === undefined ? (
          <span class="faint">a number</span>
        ) : (
          <code key="value" title={text}>
            {text}
          </code>
        ),
        ...(object ? sizeCells(object) : ['', '']),
      ]}
    />
  );
}

export function Dominated({ id, most = 14 }: { id: number; most?: number }) {
  return (
    <LongTable<ObjectRow>
      label="Dominated objects"
      what="object"
      most={most}
      columns={[{ name: 'Object', isWide: true }, ...sizeColumns]}
      question={(part) => ({ ask: 'dominated', id, ...part })}
      cells={(row) => [<ObjectLink key="object" object={row} />, ...sizeCells(row)]}
    />
  );
}
