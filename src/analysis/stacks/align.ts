/**
 * Joins two views of one stack: the printed text (names, aliases, async frames, possibly already source-mapped by the host)
 * and V8's own positions, which nothing has rewritten. Both are in the same order, and each may lack frames of the other.
 * Also detects whether the host had applied source maps already.
 * Algorithm: Needleman and Wunsch 1970, with the scores below and no gap penalty.
 */
import type { RawFrame } from '../../bundle/layout/bundle.ts';
import type { TextFrame } from '../../formats/stack-text/frame-line.ts';
import { filePathOf } from '../../formats/stack-text/location.ts';

export interface JoinedFrame {
  text?: TextFrame;
  raw?: RawFrame;
}

export interface JoinedStack {
  frames: JoinedFrame[];
  /** True if some frame was printed at another position than V8's: the host maps its stacks. */
  hostMaps: boolean;
}

/** Maximum number of cells of the score table. Larger stacks are only joined at equal positions. */
const mostCells = 250_000;

export function alignFrames(text: readonly TextFrame[], raw: readonly RawFrame[]): JoinedStack {
  const frames: JoinedFrame[] = [];
  let same = 0;
  while (same < text.length && same < raw.length && isSamePlace(text[same]!, raw[same]!)) {
    frames.push({ text: text[same]!, raw: raw[same]! });
    same++;
  }
  frames.push(...alignRest(text.slice(same), raw.slice(same)));
  return { frames, hostMaps: frames.some(isMoved) };
}

function alignRest(text: readonly TextFrame[], raw: readonly RawFrame[]): JoinedFrame[] {
  if (raw.length === 0) return text.map((frame) => ({ text: frame }));
  if (text.length === 0) return raw.map((frame) => ({ raw: frame }));
  if (text.length * raw.length > mostCells) return [...text.map((frame) => ({ text: frame }))];
  const width = raw.length + 1;
  /** best[i * width + j]: the best score of text[i…] with raw[j…]. */
  const best = new Int32Array((text.length + 1) * width);
  for (let i = text.length - 1; i >= 0; i--)
    for (let j = raw.length - 1; j >= 0; j--) {
      const apart = Math.max(best[(i + 1) * width + j]!, best[i * width + j + 1]!);
      best[i * width + j] = Math.max(apart, score(text[i]!, raw[j]!) + best[(i + 1) * width + j + 1]!);
    }
  const frames: JoinedFrame[] = [];
  let [i, j] = [0, 0];
  while (i < text.length && j < raw.length) {
    const joined = score(text[i]!, raw[j]!);
    if (joined > 0 && best[i * width + j] === joined + best[(i + 1) * width + j + 1]!)
      frames.push({ text: text[i++]!, raw: raw[j++]! });
    else if (best[i * width + j] === best[(i + 1) * width + j]) frames.push({ text: text[i++]! });
    else frames.push({ raw: raw[j++]! });
  }
  for (; i < text.length; i++) frames.push({ text: text[i]! });
  for (; j < raw.length; j++) frames.push({ raw: raw[j]! });
  return frames;
}

/** 0: never joined. A host with source maps changes positions and may change names; then only the order links a pair. */
function score(printed: TextFrame, raw: RawFrame): number {
  if (isSamePlace(printed, raw)) return 16;
  const isNamed = bareName(printed.functionName ?? '') === bareName(raw.functionName);
  if (printed.location.kind === 'eval') return isNamed ? 4 : 0;
  if (hasPlace(printed) !== (raw.url !== '')) return 0;
  if (!hasPlace(printed)) return isNamed ? 4 : 0;
  return isNamed ? 4 : 1;
}

const hasPlace = (printed: TextFrame): boolean =>
  printed.location.kind === 'source' || printed.location.kind === 'wasm';

function isSamePlace(printed: TextFrame, raw: RawFrame): boolean {
  const { location } = printed;
  if (location.kind === 'wasm')
    return (
      location.module === raw.url && (location.offset === undefined || location.offset + 1 === raw.column)
    );
  if (location.kind !== 'source' && location.kind !== 'eval') return false;
  const { position } = location;
  if (!position || position.line !== raw.line || (position.column ?? raw.column) !== raw.column) return false;
  return location.kind === 'eval' || position.url === raw.url || position.file === filePathOf(raw.url);
}

/** True if it was printed at another position than V8's. */
export function isMoved({ text, raw }: JoinedFrame): boolean {
  return text?.location.kind === 'source' && raw !== undefined && !isSamePlace(text, raw);
}

/** `Agent.run` and `run` are the same function; `Object.<anonymous>` has no name. */
function bareName(name: string): string {
  const bare = name.slice(name.lastIndexOf('.') + 1);
  return bare === '<anonymous>' || bare === '(anonymous)' ? '' : bare;
}
