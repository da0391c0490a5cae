/** The destination of a request, as derived from what the HTTP clients report. */

import type { RequestTarget } from '../calls/model-call.ts';
import { BoundedMap } from '../record/bounded-map.ts';

export interface Target extends RequestTarget {
  port: number | undefined;
}

interface Server {
  host: string;
  port: number | undefined;
}

/** A cache, because a program calls the same few servers again and again. */
const known = new BoundedMap<Server | null>(200);

/** `origin` is `scheme://host:port`, `path` includes the query. Undefined if they don't form a valid URL. */
export function readTarget(origin: string, path: string): Target | undefined {
  let server = known.get(origin);
  if (server === undefined) {
    server = readServer(origin);
    known.set(origin, server);
  }
  if (!server) return undefined;
  const question = path.indexOf('?');
  return {
    host: server.host,
    port: server.port,
    path: question === -1 ? path : path.slice(0, question),
    query: question === -1 ? '' : path.slice(question + 1),
  };
}

function readServer(origin: string): Server | null {
  const match = /^\w+:\/\/(\[[^\]]*\]|[^/:]*)(?::(\d+))?/.exec(origin);
  if (!match) return null;
  return {
    host: (match[1] ?? '').toLowerCase(),
    port: match[2] === undefined ? undefined : Number(match[2]),
  };
}
