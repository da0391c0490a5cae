/**
 * A command that takes more than two seconds says so on a terminal: its name and the seconds so far, on one line of
 * stderr that is gone as soon as something else is printed. Commands with a progress of their own do not come here.
 */
import { onPrint } from './output.ts';

const quietMs = 2000;
/** It answers for as long as its client lives. */
const lasting = new Set(['mcp', 'open']);

/** Returns what ends it. */
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
