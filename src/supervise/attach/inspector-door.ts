/** Queries the inspector of another Node process on a port. */
import { get } from 'node:http';
import { AgentdumpError } from '../../errors.ts';

export interface InspectorDoor {
  webSocketUrl: string;
  /** Whether we opened it, and therefore close it. */
  openedByUs: boolean;
}

export const usualPort = 9229;
/** The inspector has its own thread, and answers within milliseconds even if the program hangs. */
export const answerMs = 300;

/** WebSocket URL from the inspector's list of targets; undefined if another server, or none, answers. */
export function askForTarget(port: number, timeout: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/json/list', timeout }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > 1e6) request.destroy();
      });
      response.on('end', () => resolve(findUrl(text)));
    });
    request.once('timeout', () => request.destroy());
    request.once('close', () => resolve(undefined));
    request.once('error', () => resolve(undefined));
  });
}

function findUrl(text: string): string | undefined {
  try {
    const url = (JSON.parse(text) as { webSocketDebuggerUrl?: unknown }[])[0]?.webSocketDebuggerUrl;
    return typeof url === 'string' && /^ws:\/\/127\.0\.0\.1:\d+\/[\w-]+$/.test(url) ? url : undefined;
  } catch {
    return undefined;
  }
}

export function unreachable(pid: number, reason: string): AgentdumpError {
  return new AgentdumpError('not-found', `process ${pid} can't be captured: ${reason}`, { pid, reason });
}
