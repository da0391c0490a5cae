/** Where a request goes, from what the HTTP clients say of it. */
import type { RequestTarget } from '../model-call.ts';

export interface Target extends RequestTarget {
  port: number | undefined;
}

/** `origin` as `scheme://host:port`, `path` with its query; undefined when that is no URL. */
export function readTarget(origin: string, path: string): Target | undefined {
  const match = /^\w+:\/\/(\[[^\]]*\]|[^/:]*)(?::(\d+))?/.exec(origin);
  if (!match) return undefined;
  const question = path.indexOf('?');
  return {
    host: (match[1] ?? '').toLowerCase(),
    port: match[2] === undefined ? undefined : Number(match[2]),
    path: question === -1 ? path : path.slice(0, question),
    query: question === -1 ? '' : path.slice(question + 1),
  };
}
