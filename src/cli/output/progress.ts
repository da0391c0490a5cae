/**
 * If a command takes more than two seconds, shows its name and the elapsed seconds on one line of stderr, if that is a
 * terminal; the line is erased before anything else is printed. Not used by commands with their own progress display.
 */
import { onPrint } from './output.ts';

const quietMs = 2000;
/** They run for as long as their client. */
const lasting = new Set(['mcp', 'open']);

/** Returns a function that ends it. */
export function startProgress(command: string | undefined, stream = process.stderr): () => void {
  if (!stream.isTTY || command === undefined || command.startsWith('-') || lasting.has(command))
    return () => {};
  const startedAt = performance.now();
  let isShown = false;
  const clear = () => {
    if (isShown) stream.write('\r\x1b[K');
    isShown = false;
  };
  const timer = setInterval(() => {
    const ms = performance.now() - startedAt;
    if (ms < quietMs) return;
    isShown = true;
    stream.write(`\r\x1b[K${command}: working, ${Math.floor(ms / 1000)} s`);
  }, 500);
  timer.unref();
  onPrint(clear);
  return () => {
    clearInterval(timer);
    clear();
    onPrint(undefined);
  };
}
