/** The current stack without our own frames at its top. */
import { indexOf, putBack, putProperty, sliceText } from './intrinsics.ts';

const maxFrames = 50;
const OwnError = Error;
const { getOwnPropertyDescriptor } = Reflect;

/**
 * Text of the frames that led here, in V8's form, beginning with the first that is not ours. `ownFile` is the preload's,
 * which only its hot half knows by itself.
 */
export function nearestFrames(ownFile?: string): string {
  const limitBefore = getOwnPropertyDescriptor(OwnError, 'stackTraceLimit');
  try {
    putProperty(OwnError, 'stackTraceLimit', maxFrames);
    const { stack } = new OwnError('stack');
    if (typeof stack !== 'string') return '';
    const own = ownFile ?? __filename;
    return linesOf(stack, (line) => indexOf(line, '    at ') === 0 && indexOf(line, own) < 0);
  } catch {
    return '';
  } finally {
    putBack(OwnError, 'stackTraceLimit', limitBefore);
  }
}

function linesOf(text: string, isWanted: (line: string) => boolean): string {
  let wanted = '';
  for (let from = 0; from <= text.length; ) {
    const end = indexOf(text, '\n', from);
    const line = sliceText(text, from, end < 0 ? text.length : end);
    if (isWanted(line)) wanted += wanted === '' ? line : `\n${line}`;
    from = end < 0 ? text.length + 1 : end + 1;
  }
  return wanted;
}
