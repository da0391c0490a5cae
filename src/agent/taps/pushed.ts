/**
 * Observes the bytes that a Readable of Node receives (a response, a pipe of a child), and their end. Nothing of ours is on the stack when
 * the program's listeners run, no listener is added, and the stream does not begin to flow: while Node's `push` handles a chunk, the
 * stream has a decoder of ours, which Node asks before it hands the chunk on, and which returns it as it is. Seen on Node 20.20, 22.23,
 * 24.21, 26.10.
 */
import { guarded } from './guard.ts';
import { seeLookUps } from './look-up.ts';

type See = (chunk: Uint8Array | null) => void;

interface Decoder {
  write(chunk: Uint8Array): unknown;
  end(): unknown;
}

interface State {
  decoder: Decoder | null;
}

/** The getter of `push` knows who sees the chunks: other halves of the preload may join. */
type PushGetter = (() => unknown) & { agentdumpSees?: See[] };

/** `see` is called with each chunk, and with null at the end. Does nothing for a stream of another kind. */
export function seePushed(stream: object, see: See): void {
  const state = (stream as { _readableState?: State })._readableState;
  if (typeof state !== 'object' || state === null || !('decoder' in state)) return;
  const present = Object.getOwnPropertyDescriptor(stream, 'push')?.get as PushGetter | undefined;
  const others = present?.agentdumpSees;
  if (others) others.push(guarded(see));
  else watch(stream, state, [guarded(see)]);
}

function watch(stream: object, state: State, sees: See[]): void {
  /** The program's own, from `setEncoding`. */
  let given: Decoder | null = null;
  const leave = (): void => {
    if (state.decoder === ours) state.decoder = given;
  };
  const ours: Decoder = {
    write(chunk) {
      leave();
      for (let at = 0; at < sees.length; at++) sees[at]?.(chunk);
      return given ? given.write(chunk) : chunk;
    },
    end() {
      leave();
      for (let at = 0; at < sees.length; at++) sees[at]?.(null);
      return given?.end();
    },
  };
  const getter: PushGetter = seeLookUps(stream, 'push', () => {
    if (state.decoder === ours) return;
    given = state.decoder;
    state.decoder = ours;
  });
  getter.agentdumpSees = sees;
  // A chunk that `push` drops (it is empty, or too late) does not reach the decoder. Readers ask whether there is one.
  seeLookUps(stream, 'read', leave);
}
