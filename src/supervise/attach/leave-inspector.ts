/** Ends a visit: an inspector that we opened is closed again, so that nothing listens that did not before. */
import type { RemoteDebugger } from './remote-debugger.ts';

const patienceMs = 500;

/** Closing the inspector from within cuts the connection that asks for it: that is its answer. */
export async function closeInspector(remote: RemoteDebugger, openedByUs: boolean): Promise<void> {
  if (openedByUs) {
    const expression = "require('node:inspector').close()";
    await remote.send('Runtime.evaluate', { expression, includeCommandLineAPI: true }).catch(() => {});
  }
  remote.close();
  await Promise.race([remote.closed, new Promise((done) => setTimeout(done, patienceMs).unref())]);
}
