/** The rows of a stack: consecutive frames of third-party code are one row that unfolds. Pure. */
import { isOfNode, isPlainForeign, shortFile } from '../../../model/frame-text.ts';
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
  const hasOwn = frames.some(({ inApp }) => inApp);
  const rows: FrameRowEntry[] = [];
  let foreign: NumberedFrame[] = [];
  const flush = () => {
    if (foreign.length >= foldFrom) rows.push({ frames: foreign, text: foldText(foreign) });
    else rows.push(...foreign);
    foreign = [];
  };
  for (const [n, frame] of frames.entries()) {
    const numbered = { frame, number: n + 1 };
    if (isPlainForeign(frame, hasOwn)) foreign.push(numbered);
    else {
      flush();
      rows.push(numbered);
    }
  }
  flush();
  return rows;
}

function foldText(frames: readonly NumberedFrame[]): string {
  const owners = [...new Set(frames.map(({ frame }) => ownerOf(frame)))];
  return `${formatCount(frames.length, 'frame')} of ${owners.slice(0, 4).join(', ')}${owners.length > 4 ? ', …' : ''}`;
}

function ownerOf(frame: Frame): string {
  const { file, module } = frame;
  if (module !== undefined) return module;
  if (file === undefined || isOfNode(frame)) return 'Node';
  const below = file.split('node_modules/').at(-1) ?? '';
  if (below === file) return shortFile(file);
  return below
    .split('/')
    .slice(0, below.startsWith('@') ? 2 : 1)
    .join('/');
}
