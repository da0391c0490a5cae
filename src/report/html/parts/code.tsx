/** Lines of the program's source around a position, which is marked to the character. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Frame, SourceLine } from '../../../model/thread.ts';
import { tokensOf } from '../figures/code-tokens.ts';
import { ScrollBox } from './scroll-box.tsx';

/** A longer line is minified, and only its part around the position is shown. */
const longestLine = 400;

/** @param label distinguishes it from the others on the page. */
export function Code({ frame, label }: { frame: Frame; label: string }) {
  const lines = trimmed(frame.source ?? [], frame.line ?? 0);
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => showPosition(box.current), []);
  if (!lines.length) return null;
  return (
    <ScrollBox class="code" label={label} boxRef={box}>
      <pre>
        <code>
          {lines.map((line) => (
            <Line key={line.line} line={line} frame={frame} />
          ))}
        </code>
      </pre>
    </ScrollBox>
  );
}

/** Scrolls to the position in a line that is longer than the box is wide. */
function showPosition(box: HTMLElement | null): void {
  const mark = box?.querySelector('mark.position');
  if (!box || !mark) return;
  const [outer, inner] = [box.getBoundingClientRect(), mark.getBoundingClientRect()];
  const right = inner.right - outer.left;
  if (right > box.clientWidth) box.scrollLeft += right - box.clientWidth / 2;
}

function Line({ line, frame }: { line: SourceLine; frame: Frame }) {
  const isHere = line.line === frame.line;
  const column = isHere && frame.column !== undefined ? frame.column - (line.startColumn ?? 1) : undefined;
  const { shown, offset } = cutAround(line.text, column);
  const at = column === undefined ? undefined : column - offset;
  return (
    <span class={isHere ? 'line here' : 'line'}>
      <span class="number">{line.line}</span>
      <span class="text">
        <Tokens text={shown} at={at} />
        {'\n'}
      </span>
    </span>
  );
}

/** The whole token at the position is marked, because readers look for a name or an operator. */
function Tokens({ text, at }: { text: string; at: number | undefined }) {
  let start = 0;
  return (
    <>
      {tokensOf(text).map(({ kind, text: piece }, n) => {
        const from = start;
        start += piece.length;
        const inside = at === undefined ? -1 : at - from;
        const name = kind === 'plain' ? undefined : `tok-${kind}`;
        if (inside < 0 || inside >= piece.length)
          return (
            <span key={n} class={name}>
              {piece}
            </span>
          );
        const length = /^[\p{L}\p{N}_$]+/u.exec(piece.slice(inside))?.[0].length ?? 1;
        return (
          <span key={n} class={name}>
            {piece.slice(0, inside)}
            <mark class="position">{piece.slice(inside, inside + length)}</mark>
            {piece.slice(inside + length)}
          </span>
        );
      })}
    </>
  );
}

function cutAround(text: string, column: number | undefined): { shown: string; offset: number } {
  if (text.length <= longestLine) return { shown: text, offset: 0 };
  const offset = Math.max(0, Math.min((column ?? 0) - longestLine / 2, text.length - longestLine));
  return { shown: text.slice(offset, offset + longestLine), offset };
}

/** Without empty lines at the end. */
function trimmed(source: readonly SourceLine[], position: number): readonly SourceLine[] {
  const last = source.findLastIndex(({ line, text }) => line <= position || text.trim());
  return source.slice(0, last + 1);
}
