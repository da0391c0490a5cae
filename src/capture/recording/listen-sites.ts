/**
 * Where the program called `listen`, and which call failed. If the address is taken, Node emits the error in a tick of
 * its own, with no frame of the program on the stack. V8 captures the frames now, and formats them only if a death needs the
 * text.
 */
import { captured } from '../../agent/quiet-stack.ts';
import { guarded } from '../../agent/taps/guard.ts';

const channel = 'tracing:net.server.listen:';
/** A test run may open a server for each request. */
const most = 100;
const deepest = 20;
/** A program that can't serve ends at once, or after it has told so. */
const longestFarewellMs = 10_000;
const OwnError = Error;

interface ListenMessage {
  server: object;
  error?: unknown;
}

export interface ListenSites {
  /** Captured when this server was told to listen; its stack has not been formatted. */
  find(server: unknown): Error | undefined;
  /** The error of a server that could not listen moments ago, if none was told to since. */
  readonly failure: { error: unknown; made: Error | undefined } | undefined;
  undo(): void;
}

export function watchListens(): ListenSites {
  const { subscribe, unsubscribe } = process.getBuiltinModule('node:diagnostics_channel');
  const made = new WeakMap<object, Error>();
  let left = most;
  let failed: { error: unknown; made: Error | undefined; atMs: number } | undefined;
  const hear: Record<string, (message: ListenMessage) => void> = {
    asyncStart: ({ server }) => {
      failed = undefined;
      if (left-- > 0)
        made.set(
          server,
          captured(deepest, () => new OwnError('listen')),
        );
    },
    error: ({ server, error }) => {
      // A pipe that is taken is how a tool finds that it runs already: the error of one has the port -1.
      if (!(Number((error as { port?: unknown } | undefined)?.port) >= 0)) return;
      failed = { error, made: made.get(server), atMs: performance.now() };
    },
  };
  const taps = Object.entries(hear).map(([name, listener]) => {
    const tap = guarded(listener) as (message: unknown) => void;
    subscribe(channel + name, tap);
    return () => void unsubscribe(channel + name, tap);
  });
  return {
    find: (server) => (typeof server === 'object' && server !== null ? made.get(server) : undefined),
    get failure() {
      return failed && performance.now() - failed.atMs < longestFarewellMs ? failed : undefined;
    },
    undo: () => {
      for (const undo of taps) undo();
    },
  };
}
