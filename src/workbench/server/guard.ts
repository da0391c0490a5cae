/**
 * Access control: a request needs the token, and must come from a page of this server or from no page. The server is bound to
 * the loopback address, but any page in the browser can send requests there, under a host name of its own choosing (DNS
 * rebinding); so Host, Origin and Sec-Fetch-Site are checked too (https://www.w3.org/TR/fetch-metadata/). Pure.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export interface Asked {
  method?: string | undefined;
  url?: string | undefined;
  headers: IncomingHttpHeaders;
}

export interface Allowed {
  /** Below the token, without a leading slash. */
  path: string;
  query: URLSearchParams;
}

export interface Refused {
  status: 400 | 403 | 404 | 405 | 421;
  text: string;
}

const longestUrl = 16 * 1024;
const changing = /^jobs\/[^/]+\/cancel$/;

export function judgeRequest(
  { method, url, headers }: Asked,
  port: number,
  token: string,
): Allowed | Refused {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  const { host, origin } = headers;
  if (!hosts.includes(host ?? '')) return { status: 421, text: 'This is another host.' };
  if (origin !== undefined && origin !== `http://${host}`) return forbidden;
  if (isFromElsewhere(headers)) return forbidden;
  const asked = readUrl(url);
  if (!asked) return { status: 400, text: 'This is no address.' };
  const [, given = '', rest = ''] = /^\/([^/]*)\/?(.*)$/s.exec(asked.path) ?? [];
  // A request without the token does not even learn whether the page exists.
  if (!isSame(given, token))
    return { status: 404, text: 'There is nothing here: the address needs its token.' };
  if (method === 'POST') {
    if (!changing.test(rest)) return readOnly;
    // A browser sends the origin with each POST.
    if (origin === undefined) return forbidden;
  } else if ((method !== 'GET' && method !== 'HEAD') || changing.test(rest)) return readOnly;
  return { path: rest, query: asked.query };
}

const forbidden: Refused = { status: 403, text: 'Another page may not ask this server.' };
const readOnly: Refused = { status: 405, text: 'This server is read only.' };

/** Links may be followed from anywhere, because only the token makes them valid; embedding and fetching are refused. */
function isFromElsewhere(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  return headers['sec-fetch-mode'] !== 'navigate' || headers['sec-fetch-dest'] !== 'document';
}

function readUrl(url = ''): { path: string; query: URLSearchParams } | undefined {
  if (url.length > longestUrl || !url.startsWith('/')) return undefined;
  const at = url.indexOf('?');
  const query = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
  return { path: at < 0 ? url : url.slice(0, at), query };
}

/** In constant time, and over hashes, so that the duration does not reveal the length either. */
function isSame(given: string, token: string): boolean {
  const hashOf = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hashOf(given), hashOf(token));
}
