/**
 * What an object keeps alive as nested rectangles. Each can be entered, or links to the objects that it stands for.
 */
import { formatBytes, formatCount, formatNumber, formatShare } from '../../../model/quantities.ts';
import { isEngineName, toneOf } from '../../../report/html/figures/retained-tree.ts';
import { type Nested, type Nesting, nest } from '../../../report/html/figures/treemap.ts';
import { useWidth } from '../../../report/html/parts/use-width.ts';
import type { Tile } from '../../heap/questions.ts';
import { useAnswer } from './ask.ts';
import { place, toClass, toObject, toTiles } from './place.ts';

export function Treemap({ root }: { root: number }) {
  const id = Number(place.value['id'] ?? root);
  const { ref, width } = useWidth<HTMLDivElement>(1200);
  const { answer, reason } = useAnswer({ ask: 'tiles', id });
  const height = Math.round(Math.min(640, Math.max(360, width * 0.52)));
  const shown = nest(answer?.tiles ?? [], nesting, { x: 0, y: 0, width, height });
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
              <a href={toTiles(object.id)}>{object.id === root ? 'all roots' : object.class}</a>
            </li>
          ))}
          {answer ? (
            <li aria-current="page">
              <a href={toObject(id)}>{id === root ? 'all roots' : `${answer.object.class} @${id}`}</a>{' '}
              <span class="faint">{formatBytes(answer.object.retained)}</span>
            </li>
          ) : null}
        </ol>
      </nav>
      <div class="treemap" ref={ref}>
        <div class="map" style={{ blockSize: `${height}px` }}>
          {shown.map((box, n) => (
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

const nesting: Nesting<Tile> = { sizeOf: ({ bytes }) => bytes, insideOf: ({ inside = [] }) => inside };

function TileBox({ box, total }: { box: Nested<Tile>; total: number }) {
  const { item, x, y, width, height, above } = box;
  const depth = above.length;
  const { name, bytes, count, id, class: kind, inside } = item;
  const label = `${name}: ${formatBytes(bytes)}, ${formatShare(bytes / total)}, ${formatCount(count, 'object')}`;
  const href =
    id !== undefined ? (inside ? toTiles(id) : toObject(id)) : kind !== undefined ? toClass(kind) : undefined;
  const style = {
    insetInlineStart: `${x}px`,
    insetBlockStart: `${y}px`,
    inlineSize: `${width - 1}px`,
    blockSize: `${height - 1}px`,
    '--depth': depth,
  };
  const shownName =
    width > 34 && height > 16 ? (
      <span class="tile-name" aria-hidden="true">
        {count > 1 ? `${name} × ${formatNumber(count)}` : name}{' '}
        {width > 160 ? <span>{formatBytes(bytes)}</span> : null}
      </span>
    ) : null;
  // The keyboard moves over the outermost rectangles: entering one makes its contents the outermost.
  if (depth > 0) {
    const shape = { class: `tile inner ${colourOf(name)}`, style, title: label, 'aria-hidden': true };
    return href === undefined ? (
      <div {...shape}>{shownName}</div>
    ) : (
      <a {...shape} href={href} tabIndex={-1}>
        {shownName}
      </a>
    );
  }
  const content = (
    <>
      <span class="hidden">{label}</span>
      {shownName}
    </>
  );
  const shape = { class: `tile ${colourOf(name)}`, style, title: label };
  if (href === undefined) return <div {...shape}>{content}</div>;
  return (
    <a {...shape} href={href} data-item>
      {content}
    </a>
  );
}
