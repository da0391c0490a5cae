import type { Frame } from '../../model/thread.ts';
import type { JoinedFrame } from './align.ts';
import type { ScriptMap, ScriptText } from './script-text.ts';

/** A frame with its intermediate results. */
export interface PlacedFrame {
  joined: JoinedFrame;
  frame: Frame;
  /** As V8 printed it, without `new` and alias. */
  name?: string;
  text?: ScriptText;
  /** The map that gave the position, and the lines of its source. */
  map?: ScriptMap;
  sourceLines?: readonly string[];
}
