/** The current stack without our own frames at its top. */

const maxFrames = 50;

/**
 * Text of the frames that led here, in V8's form, beginning with the first that is not ours. `ownFile` is the preload's,
 * which only its hot half knows by itself.
 */
export function nearestFrames(ownFile?: string): string {
  const { stackTraceLimit } = Error;
  const { prepareStackTrace } = Error;
  try {
    Error.stackTraceLimit = maxFrames;
    const { stack } = new Error('stack');
    if (typeof stack !== 'string') return '';
    const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
    const own = ownFile ?? __filename;
    return frames.filter((line) => !line.includes(own)).join('\n');
  } catch {
    return '';
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    Error.prepareStackTrace = prepareStackTrace;
  }
}
