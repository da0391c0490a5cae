/**
 * A replayed program with its inspector open, beside the debugger of a person: it stops where the recorded error is
 * thrown, or one that nobody catches, says where that is, and goes on when it is asked to. V8 does not foresee that an
 * error of a module's top level ends the program, so it stops at all throws, and most of them are let go at once.
 * Source: the Debugger domain of chromedevtools.github.io/devtools-protocol.
 */
import { fileURLToPath } from 'node:url';
import { openInspector } from '../supervise/attach/inspector-port.ts';
import { RemoteDebugger } from '../supervise/attach/remote-debugger.ts';

interface Paused {
  reason?: string;
  data?: { description?: string; uncaught?: boolean };
  callFrames?: {
    functionName: string;
    location: { scriptId: string; lineNumber: number; columnNumber: number };
  }[];
}

export class HeldProgram {
  /** `host:port` and the URL for a debugger. */
  readonly address: string;
  readonly url: string;
  readonly #remote: RemoteDebugger;
  /** By the scripts' ids: Node leaves them out of call frames. */
  readonly #scripts = new Map<unknown, string>();

  private constructor(url: string, remote: RemoteDebugger) {
    this.url = url;
    this.address = new URL(url).host;
    this.#remote = remote;
  }

  /** undefined when the program does not open its inspector. Throws `not-found` when it is no Node, or gone. */
  static async open(pid: number): Promise<HeldProgram | undefined> {
    const door = await openInspector(pid);
    if (!door) return undefined;
    const remote = await RemoteDebugger.connect(door.webSocketUrl);
    const held = new HeldProgram(door.webSocketUrl, remote);
    remote.on('Debugger.scriptParsed', ({ scriptId, url }) => held.#scripts.set(scriptId, String(url)));
    // A program that ends waits until its debuggers are gone.
    remote.on('NodeRuntime.waitingForDisconnect', () => remote.close());
    await remote.send('NodeRuntime.notifyWhenWaitingForDisconnect', { enabled: true });
    await remote.send('Debugger.enable');
    return held;
  }

  /**
   * From now on it stops at throws. `title`: of the recorded death, which begins with its error. `onPaused`: at the
   * throw, with its place in words; the program goes on when the promise is resolved.
   */
  async stopAtThrow(
    title: string,
    onPaused: (where: string, goesOn: AbortSignal) => Promise<void>,
  ): Promise<void> {
    let goesOn = new AbortController();
    let hasStopped = false;
    // Somebody's debugger may let it go on before we do.
    this.#remote.on('Debugger.resumed', () => goesOn.abort());
    this.#remote.on('Debugger.paused', (paused) => {
      goesOn = new AbortController();
      const { reason, data } = paused as Paused;
      // Steps and breakpoints are of the person's own debugger.
      if (reason !== 'exception' && reason !== 'promiseRejection') return;
      const goOn = () => {
        if (!goesOn.signal.aborted) this.#remote.send('Debugger.resume').catch(() => {});
      };
      // Node throws what came to its own frames once more.
      const isRepeated = hasStopped && this.#placeOf(paused as Paused).startsWith('node:');
      if (isRepeated || !(data?.uncaught || isRecorded(data?.description, title))) return goOn();
      hasStopped = true;
      onPaused(this.#describe(paused as Paused), goesOn.signal).then(goOn);
    });
    await this.#remote.send('Debugger.setPauseOnExceptions', { state: 'all' });
  }

  #describe(paused: Paused): string {
    const [error = 'an error'] = (paused.data?.description ?? '').split('\n');
    const name = paused.callFrames?.[0]?.functionName || '<anonymous>';
    return `${error}\n  at ${name} (${this.#placeOf(paused)})`;
  }

  #placeOf({ callFrames: [frame] = [] }: Paused): string {
    if (!frame) return 'an unknown place';
    const { scriptId, lineNumber, columnNumber } = frame.location;
    const url = this.#scripts.get(scriptId) ?? '';
    const file = url.startsWith('file:') ? fileURLToPath(url) : url;
    return `${file}:${lineNumber + 1}:${columnNumber + 1}`;
  }
}

/** Titles are redacted and cut, so their beginning decides. */
function isRecorded(description: string | undefined, title: string): boolean {
  const [first = ''] = (description ?? '').split('\n');
  return first !== '' && title.startsWith(first.slice(0, 60));
}
