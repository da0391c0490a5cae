/** What a stack's rows are: frames of other people's code in a row are one row that unfolds. Pure. */
import { shortFile } from '../../../model/frame-text.ts';
import { formatCount } from '../../../model/quantities.ts';
import type { Frame } from '../../../model/thread.ts';

export interface NumberedFrame {
  frame: Frame;
  /** From 1, the innermost first. */
  number: number;
}

export type FrameRowEntry = NumberedFrame | { frames: NumberedFrame[]; text: string };

const foldFrom = 3;

export function frameRows(frames: readonly Frame[]): FrameRowEntry[] {
  const rows: FrameRowEntry[] = [];
  let foreign: NumberedFrame[] = [];
  const flush = () => {
    if (foreign.length >= foldFrom) rows.push({ frames: foreign, text: foldText(foreign) });
    else rows.push(...foreign);
    foreign = [];
  };
  for (const [n, frame] of frames.entries()) {
    const numbered = { frame, number: n + 1 };
    if (isPlainForeign(frame)) foreign.push(numbered);
    else {
      flush();
      rows.push(numbered);
    }
  }
  flush();
  return rows;
}

/** Not the program's own, and nothing to read on it. In a native stack every frame may matter. */
const isPlainForeign = (frame: Frame): boolean =>
  !frame.inApp && !frame.locals?.length && frame.address === undefined;

function foldText(frames: readonly NumberedFrame[]): string {
  const owners = [...new Set(frames.map(({ frame }) => ownerOf(frame)))];
  return `${formatCount(frames.length, 'frame')} of ${owners.slice(0, 4).join(', ')}${owners.length > 4 ? ', …' : ''}`;
}

function ownerOf({ file, module }: Frame): string {
  if (module !== undefined) return module;
  if (file === undefined || file.startsWith('node:')) return 'Node';
  const below = file.split('node_modules/').at(-1) ?? '';
  if (below === file) return shortFile(file);
  return below
    .split('/')
    .slice(0, below.startsWith('@') ? 2 : 1)
    .join('/');
}
