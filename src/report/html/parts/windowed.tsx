/**
 * A list of rows of equal height. A short list is rendered whole, a long one only as far as it is visible, in a box that
 * scrolls. An opened row is taller: as long as it is visible, the rows below it move down.
 */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { formatCount } from '../../../model/quantities.ts';
import { isPrinting, target } from '../state.ts';
import { ScrollBox } from './scroll-box.tsx';

interface WindowedProps<T> {
  items: readonly T[];
  rowHeight: number;
  label: string;
  idOf: (item: T) => string;
  draw: (item: T) => ComponentChildren;
}

const mostWhole = 32;
const beyond = 12;
const boxRows = 18;
/** On paper, the end is the most useful part. */
const mostPrinted = 120;

export function Windowed<T>({ items, rowHeight, label, idOf, draw }: WindowedProps<T>) {
  const box = useRef<HTMLElement>(null);
  const first = useSignal(0);
  const isLong = items.length > mostWhole;
  const wanted = target.value;
  useEffect(() => {
    // Initially shows the end: what happened last.
    if (box.current) box.current.scrollTop = items.length * rowHeight;
  }, [items, isLong]);
  useEffect(() => {
    const at = isLong ? items.findIndex((item) => idOf(item) === wanted) : -1;
    if (at >= 0 && box.current) box.current.scrollTop = (at - 4) * rowHeight;
  }, [items, wanted, isLong]);
  if (!isLong) return <div class="rows">{items.map(draw)}</div>;
  if (isPrinting.value) {
    const left = items.length - mostPrinted;
    return (
      <div class="rows">
        {left > 0 ? <p class="faint">{formatCount(left, 'earlier row')} left out on paper.</p> : null}
        {items.slice(-mostPrinted).map(draw)}
      </div>
    );
  }
  const from = Math.max(0, first.value - beyond);
  const to = Math.min(items.length, first.value + boxRows + beyond);
  return (
    <ScrollBox
      boxRef={box}
      class="rows window"
      label={label}
      style={{ blockSize: `${boxRows * rowHeight}px` }}
      onScroll={(top) => {
        const at = Math.floor(top / rowHeight);
        // Updated in large steps, because each change renders all visible rows.
        if (Math.abs(at - first.value) >= beyond / 2 || at === 0) first.value = at;
      }}
    >
      <div style={{ blockSize: `${from * rowHeight}px` }} />
      {items.slice(from, to).map(draw)}
      <div style={{ blockSize: `${(items.length - to) * rowHeight}px` }} />
    </ScrollBox>
  );
}
