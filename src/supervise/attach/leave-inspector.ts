/** Disconnects, and closes the inspector if we opened it, so that no port stays open that was closed before. */
import type { RemoteDebugger } from './remote-debugger.ts';

const patienceMs = 500;

/** Closing the inspector from inside cuts the connection before an answer is sent, so an error is expected. */
export async function closeInspector(remote: RemoteDebugger, openedByUs: boolean): Promise<void> {
  if (openedByUs) {
    const expression = "require('node:inspector').close()";
    await remote.send('Runtime.evaluate', { expression, includeCommandLineAPI: true }).catch(() => {});
  }
  remote.close();
  await Promise.race([remote.closed, new Promise((done) => setTimeout(done, patienceMs).unref())]);
}
