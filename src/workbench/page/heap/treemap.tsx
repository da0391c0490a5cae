/** What an object keeps alive as a map: each rectangle can be entered, or leads to the objects that it stands for. */
import { formatBytes, formatCount, formatShare } from '../../../model/quantities.ts';
import { isEngineName, toneOf } from '../../../report/html/figures/retained-tree.ts';
import { type Placed, squarify } from '../../../report/html/figures/treemap.ts';
import { useWidth } from '../../../report/html/parts/use-width.ts';
import type { Tile } from '../../heap/questions.ts';
import { useAnswer } from './ask.ts';
import { place, toClass, toObject, toTiles } from './place.ts';

const padding = 3;
const headHeight = 22;
/** Smaller ones would hold no name and catch no pointer. */
const leastSide = 5;

export function Treemap({ root }: { root: number }) {
  const id = Number(place.value['id'] ?? root);
  const { ref, width } = useWidth<HTMLDivElement>(1200);
  const { answer, reason } = useAnswer({ ask: 'tiles', id });
  const height = Math.round(Math.min(640, Math.max(360, width * 0.52)));
  const placed = squarify(answer?.tiles ?? [], ({ bytes }) => bytes, { x: 0, y: 0, width, height });
  const total = answer?.object.retained ?? 1;
  return (
    <>
      <h1>What keeps what</h1>
      {reason === undefined ? null : (
        <p class="gap" role="alert">
          {reason}
        </p>
      )}
      <nav class="map-way" aria-label="Way into the map">
        <ol>
          {answer?.above.map((object) => (
            <li key={object.id}>
              <a href={toTiles(object.id)}>{object.class}</a>
            </li>
          ))}
          {answer ? (
            <li aria-current="page">
              <a href={toObject(id)}>
                {answer.object.class} @{id}
              </a>{' '}
              <span class="faint">{formatBytes(answer.object.retained)}</span>
            </li>
          ) : null}
        </ol>
      </nav>
      <div class="treemap" ref={ref}>
        <div class="map" style={{ blockSize: `${height}px` }}>
          {placed.map((box, n) => (
            <TileBox key={n} box={box} total={total} />
          ))}
        </div>
      </div>
      <p class="faint caption">
        Each object is counted once, in what alone keeps it alive. A large one can be entered; small ones of a
        class are together. Grey is V8's own.
      </p>
    </>
  );
}

const colourOf = (name: string): string => (isEngineName(name) ? 'engine' : `tone-${toneOf(name)}`);

function styleOf({ x, y, width, height }: Placed<Tile>) {
  return {
    insetInlineStart: `${x}px`,
    insetBlockStart: `${y}px`,
    inlineSize: `${width - 1}px`,
    blockSize: `${height - 1}px`,
  };
}

function TileBox({ box, total }: { box: Placed<Tile>; total: number }) {
  const { item, width, height } = box;
  if (width < leastSide || height < leastSide) return null;
  const { name, bytes, count, id, class: kind, inside } = item;
  const label = `${name}: ${formatBytes(bytes)}, ${formatShare(bytes / total)}, ${formatCount(count, 'object')}`;
  const room = {
    x: padding,
    y: headHeight,
    width: width - 2 * padding - 2,
    height: height - headHeight - padding - 2,
  };
  const hasRoom = inside && room.width > 40 && room.height > 24;
  const content = (
    <>
      <span class="hidden">{label}</span>
      {width > 34 && height > 16 ? (
        <span class="tile-name" aria-hidden="true">
          {count > 1 ? `${name} × ${count}` : name} <span>{formatBytes(bytes)}</span>
        </span>
      ) : null}
      {hasRoom
        ? squarify(inside, (small) => small.bytes, room).map((small, n) =>
            small.width < leastSide || small.height < leastSide ? null : (
              <span
                key={n}
                aria-hidden="true"
                class={`inner ${colourOf(small.item.name)}`}
                style={styleOf(small)}
              >
                {small.width > 44 && small.height > 15 ? small.item.name : ''}
              </span>
            ),
          )
        : null}
    </>
  );
  const href =
    id !== undefined ? (inside ? toTiles(id) : toObject(id)) : kind !== undefined ? toClass(kind) : undefined;
  const shape = { class: `tile ${colourOf(name)}`, style: styleOf(box), title: label };
  if (href === undefined) return <div {...shape}>{content}</div>;
  return (
    <a {...shape} href={href} data-item>
      {content}
    </a>
  );
}
