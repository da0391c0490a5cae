/**
 * Observes where connections, requests of `node:http` and child processes begin: their channels publish while the code that
 * starts them is on the stack. Seen on Node 20.20, 22.23, 24.21, 26.10; `http.client.request.created` since 22.12.
 */
import type { ChildProcess } from 'node:child_process';
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { AgentRecorder } from '../record/recorder.ts';
import { listenTo, type Tap } from './channels.ts';

interface Message {
  socket: Socket;
  request: ClientRequest;
  process: ChildProcess;
  error: unknown;
}

export function tapBeginSites({ sites }: AgentRecorder): Tap {
  return listenTo<Message>('', {
    'net.client.socket': ({ socket }) => sites.beginConnection(socket),
    child_process: ({ process }) => sites.beginChild(process),
    'http.client.request.created': ({ request }) => sites.begin(request, 'request'),
    'http.client.request.error': ({ request, error }) => failedRequest(sites, request, error),
  });
}

/** Before Node 22.12 only the site of the request's connection is known, if it had a connection of its own. */
export function failedRequest(sites: AgentRecorder['sites'], request: ClientRequest, error: unknown): void {
  const what = `request ${request.method} ${request.getHeader('host') ?? request.host}${pathOnly(request.path)}`;
  sites.failed(request, error, what);
  if (!request.reusedSocket) sites.failed(request.socket, error, what);
}

export const pathOnly = (path: string): string => path.replace(/[?#].*$/, '');
