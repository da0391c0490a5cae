/** Where the bytes of the heap are kept: a rectangle a class, in it what it alone keeps alive. A click looks inside. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { RetainedFrame } from '../../../model/account.ts';
import { formatBytes, formatCount, formatShare } from '../../../model/quantities.ts';
import { type RetainedNode, retainedTree } from '../figures/retained-tree.ts';
import { type Placed, squarify } from '../figures/treemap.ts';
import { useWidth } from './use-width.ts';

const padding = 3;
const headHeight = 22;
/** Smaller ones would hold no name and catch no pointer. */
const leastSide = 5;

export function Treemap({ frames }: { frames: readonly RetainedFrame[] }) {
  const { ref, width } = useWidth<HTMLElement>(860);
  const root = useMemo(() => retainedTree(frames), [frames]);
  const path = useSignal<RetainedNode[]>(root ? wayInto(root) : []);
  if (!root) return null;
  const shown = path.value.at(-1) ?? root;
  const height = Math.round(Math.min(460, Math.max(300, width * 0.5)));
  const placed = squarify(partsOf(shown), ({ bytes }) => bytes, { x: 0, y: 0, width, height });
  return (
    <figure class="treemap" ref={ref}>
      <h3>Where the heap is kept</h3>
      <p class="crumbs">
        {[root, ...path.value].map((node, depth) => (
          <button
            key={depth}
            type="button"
            disabled={node === shown}
            onClick={() => (path.value = path.value.slice(0, depth))}
          >
            {depth === 0 ? 'the heap' : node.name} <span>{formatBytes(node.bytes)}</span>
          </button>
        ))}
      </p>
      <div class="map" style={{ blockSize: `${height}px` }}>
        {placed.map((box, n) => (
          <Tile key={n} box={box} total={root.bytes} open={(node) => (path.value = [...path.value, node])} />
        ))}
      </div>
      <figcaption class="faint caption">
        Each object is counted once, in what alone keeps it alive. Grey is V8's own.
      </figcaption>
    </figure>
  );
}

/** Through nodes that hold hardly more than one other: a map of one tile says nothing. */
function wayInto(root: RetainedNode): RetainedNode[] {
  const way: RetainedNode[] = [];
  for (let node = root; ; ) {
    const most = node.children.find(
      ({ bytes, children }) => bytes > node.bytes * 0.85 && children.length > 1,
    );
    if (!most) return way;
    way.push(most);
    node = most;
  }
}

/** What is in it, its own bytes among them, so that the areas add up. */
function partsOf(node: RetainedNode): RetainedNode[] {
  if (!node.children.length) return [node];
  const own: RetainedNode = { ...node, bytes: node.ownBytes, children: [], name: `${node.name} itself` };
  return [...node.children, ...(node.ownBytes > 0 ? [own] : [])];
}

const colourOf = ({ isEngine, tone }: RetainedNode) => (isEngine ? 'engine' : `tone-${tone}`);

interface TileProps {
  box: Placed<RetainedNode>;
  total: number;
  open: (node: RetainedNode) => void;
}

function Tile({ box: { item, x, y, width, height }, total, open }: TileProps) {
  if (width < leastSide || height < leastSide) return null;
  const inner = {
    x: padding,
    y: headHeight,
    width: width - 2 * padding - 2,
    height: height - headHeight - padding - 2,
  };
  const hasRoom = item.children.length > 0 && inner.width > 40 && inner.height > 24;
  const inside = hasRoom ? squarify(partsOf(item), ({ bytes }) => bytes, inner) : [];
  const label = `${item.name}: ${formatBytes(item.bytes)}, ${formatShare(item.bytes / total)} of the heap, ${formatCount(item.count, 'object')}`;
  const name = `tile ${colourOf(item)}`;
  const style = {
    insetInlineStart: `${x}px`,
    insetBlockStart: `${y}px`,
    inlineSize: `${width - 1}px`,
    blockSize: `${height - 1}px`,
  };
  const content = (
    <>
      <span class="hidden">{label}</span>
      {width > 34 && height > 16 ? (
        <span class="tile-name" aria-hidden="true">
          {item.name} <span>{formatBytes(item.bytes)}</span>
        </span>
      ) : null}
      {inside.map((small, n) =>
        small.width < leastSide || small.height < leastSide ? null : (
          <span
            key={n}
            aria-hidden="true"
            class={`inner ${colourOf(small.item)}`}
            style={{
              insetInlineStart: `${small.x}px`,
              insetBlockStart: `${small.y}px`,
              inlineSize: `${small.width - 1}px`,
              blockSize: `${small.height - 1}px`,
            }}
          >
            {small.width > 44 && small.height > 15 ? small.item.name : ''}
          </span>
        ),
      )}
    </>
  );
  if (!item.children.length)
    return (
      <div class={name} style={style} title={label}>
        {content}
      </div>
    );
  return (
    <button type="button" class={name} style={style} title={label} onClick={() => open(item)}>
      {content}
    </button>
  );
}
