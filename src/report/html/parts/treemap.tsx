/**
 * What the bytes of the heap are retained by: a rectangle per class, containing what only it keeps alive, as deep as there is
 * room. A click zooms in.
 */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { RetainedFrame } from '../../../model/account.ts';
import { formatBytes, formatCount, formatShare } from '../../../model/quantities.ts';
import { type RetainedNode, retainedTree } from '../figures/retained-tree.ts';
import { type Nested, type Nesting, nest } from '../figures/treemap.ts';
import { useWidth } from './use-width.ts';

export function Treemap({ frames }: { frames: readonly RetainedFrame[] }) {
  const { ref, width } = useWidth<HTMLElement>(860);
  const root = useMemo(() => retainedTree(frames), [frames]);
  const path = useSignal<RetainedNode[]>(root ? wayInto(root) : []);
  if (!root) return null;
  const shown = path.value.at(-1) ?? root;
  const height = Math.round(Math.min(460, Math.max(300, width * 0.5)));
  const placed = nest(partsOf(shown), nesting, { x: 0, y: 0, width, height });
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
          <Tile
            key={n}
            box={box}
            total={root.bytes}
            open={() => (path.value = [...path.value, ...box.above, box.item])}
          />
        ))}
      </div>
      <figcaption class="faint caption">
        Each object is counted once, in what alone keeps it alive. Grey is V8's own.
      </figcaption>
    </figure>
  );
}

/** Skips nodes that contain hardly more than one other, because a map of one tile shows nothing. */
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

/** The contents of a node including its own bytes, so that the areas add up. */
function partsOf(node: RetainedNode): RetainedNode[] {
  if (!node.children.length) return [node];
  const own: RetainedNode = { ...node, bytes: node.ownBytes, children: [], name: `${node.name} itself` };
  return [...node.children, ...(node.ownBytes > 0 ? [own] : [])];
}

const nesting: Nesting<RetainedNode> = {
  sizeOf: ({ bytes }) => bytes,
  insideOf: (node) => (node.children.length ? partsOf(node) : []),
};

const colourOf = ({ isEngine, tone }: RetainedNode) => (isEngine ? 'engine' : `tone-${tone}`);

interface TileProps {
  box: Nested<RetainedNode>;
  total: number;
  open: () => void;
}

function Tile({ box: { item, x, y, width, height, above }, total, open }: TileProps) {
  const label = `${item.name}: ${formatBytes(item.bytes)}, ${formatShare(item.bytes / total)} of the heap, ${formatCount(item.count, 'object')}`;
  const isInner = above.length > 0;
  const shape = {
    class: `tile ${isInner ? 'inner ' : ''}${colourOf(item)}`,
    style: {
      insetInlineStart: `${x}px`,
      insetBlockStart: `${y}px`,
      inlineSize: `${width - 1}px`,
      blockSize: `${height - 1}px`,
      '--depth': above.length,
    },
    title: label,
  };
  const content = (
    <>
      {isInner ? null : <span class="hidden">{label}</span>}
      {width > 34 && height > 16 ? (
        <span class="tile-name" aria-hidden="true">
          {item.name} {width > 160 ? <span>{formatBytes(item.bytes)}</span> : null}
        </span>
      ) : null}
    </>
  );
  // The keyboard only reaches the outermost tiles: opening one makes its contents the outermost.
  const hidden = isInner ? { 'aria-hidden': true, tabIndex: -1 } : {};
  return item.children.length ? (
    <button type="button" {...shape} {...hidden} onClick={open}>
      {content}
    </button>
  ) : (
    <div {...shape} {...(isInner && { 'aria-hidden': true })}>
      {content}
    </div>
  );
}
