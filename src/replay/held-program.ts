/**
 * A replayed program with an open inspector, used together with the user's debugger. It stops where the recorded error, or an
 * uncaught one, is thrown, reports the place, and resumes on request. V8 does not predict that an error in a module's top
 * level ends the program, so it stops at every throw, and most of them are resumed immediately. Source: the Debugger domain
 * of chromedevtools.github.io/devtools-protocol.
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
  /** By script id, because Node omits URLs from call frames. */
  readonly #scripts = new Map<unknown, string>();

  private constructor(url: string, remote: RemoteDebugger) {
    this.url = url;
    this.address = new URL(url).host;
    this.#remote = remote;
  }

  /** Undefined if the program does not open its inspector. Throws `not-found` if it is not a Node process, or has exited. */
  static async open(pid: number): Promise<HeldProgram | undefined> {
    const door = await openInspector(pid);
    if (!door) return undefined;
    const remote = await RemoteDebugger.connect(door.webSocketUrl);
    const held = new HeldProgram(door.webSocketUrl, remote);
    remote.on('Debugger.scriptParsed', ({ scriptId, url }) => held.#scripts.set(scriptId, String(url)));
    // A program that ends waits until its debuggers have disconnected.
    remote.on('NodeRuntime.waitingForDisconnect', () => remote.close());
    await remote.send('NodeRuntime.notifyWhenWaitingForDisconnect', { enabled: true });
    await remote.send('Debugger.enable');
    return held;
  }

  /**
   * From now on the program stops at throws. `title`: the title of the recorded death, which begins with its error.
   * `onPaused`: called at the throw, with a description of the place; the program resumes when the promise is resolved.
   */
  async stopAtThrow(
    title: string,
    onPaused: (where: string, goesOn: AbortSignal) => Promise<void>,
  ): Promise<void> {
    let goesOn = new AbortController();
    let hasStopped = false;
    // The user's debugger may resume it first.
    this.#remote.on('Debugger.resumed', () => goesOn.abort());
    this.#remote.on('Debugger.paused', (paused) => {
      goesOn = new AbortController();
      const { reason, data } = paused as Paused;
      // Steps and breakpoints belong to the user's debugger.
      if (reason !== 'exception' && reason !== 'promiseRejection') return;
      const goOn = () => {
        if (!goesOn.signal.aborted) this.#remote.send('Debugger.resume').catch(() => {});
      };
      // Node rethrows errors that reach its own frames.
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

/** Titles are redacted and shortened, so only the beginning is compared. */
function isRecorded(description: string | undefined, title: string): boolean {
  const [first = ''] = (description ?? '').split('\n');
  return first !== '' && title.startsWith(first.slice(0, 60));
}
