/**
 * Where the program called `listen`. If the address is taken, Node emits the error in a tick of its own, with no frame of the
 * program on the stack. V8 captures the frames now, and formats them only if a death needs the text.
 */
import { quietly } from '../../agent/quiet-stack.ts';
import { guarded } from '../../agent/taps/guard.ts';

const channel = 'tracing:net.server.listen:asyncStart';
/** A test run may open a server for each request. */
const most = 100;
const deepest = 20;
const OwnError = Error;

export interface ListenSites {
  /** Captured when this server was told to listen; its stack has not been formatted. */
  find(server: unknown): Error | undefined;
  undo(): void;
}

export function watchListens(): ListenSites {
  const { subscribe, unsubscribe } = process.getBuiltinModule('node:diagnostics_channel');
  const made = new WeakMap<object, Error>();
  let left = most;
  const note = guarded(({ server }: { server: object }) => {
    if (left-- > 0)
      made.set(
        server,
        quietly(deepest, () => new OwnError('listen')),
      );
  }) as (message: unknown) => void;
  subscribe(channel, note);
  return {
    find: (server) => (typeof server === 'object' && server !== null ? made.get(server) : undefined),
    undo: () => void unsubscribe(channel, note),
  };
}
