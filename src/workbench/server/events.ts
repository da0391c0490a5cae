/** The events of a job as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Job } from '../items/jobs.ts';
import { securityHeaders } from './document.ts';

export function sendEvents(job: Job, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { ...securityHeaders, 'content-type': 'text/event-stream; charset=utf-8' });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const unlisten = job.listen((event) => {
    response.write(`data: ${JSON.stringify(event)}\n\n`);
    if (event.kind !== 'progress') response.end();
  });
  response.once('close', unlisten);
}
