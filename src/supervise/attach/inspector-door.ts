/** The inspector of another Node as it shows itself on a port, however that port was found. */
import { get } from 'node:http';
import { AgentdumpError } from '../../errors.ts';

export interface InspectorDoor {
  webSocketUrl: string;
  /** We opened it, so we close it. */
  openedByUs: boolean;
}

export const usualPort = 9229;
/** The inspector has a thread of its own, and answers within milliseconds also while the program hangs. */
export const answerMs = 300;

/** The inspector's own list of what it debugs; any other server answers something else, or nothing. */
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
