/**
 * Who may ask: whoever has the token, from a page of this server or from no page at all. The address is bound to this
 * machine, but every page that its browser shows can send requests there, under a name of its own choosing (DNS rebinding);
 * so Host, Origin and Sec-Fetch-Site are looked at too (https://www.w3.org/TR/fetch-metadata/). Pure.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export interface Asked {
  method?: string | undefined;
  url?: string | undefined;
  headers: IncomingHttpHeaders;
}

export interface Allowed {
  /** Below the token, without a slash at its start. */
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
  // Whoever has no token learns nothing, not even whether there is such a page.
  if (!isSame(given, token))
    return { status: 404, text: 'There is nothing here: the address needs its token.' };
  if (method === 'POST') {
    if (!changing.test(rest)) return readOnly;
    // A browser names the origin of each POST.
    if (origin === undefined) return forbidden;
  } else if ((method !== 'GET' && method !== 'HEAD') || changing.test(rest)) return readOnly;
  return { path: rest, query: asked.query };
}

const forbidden: Refused = { status: 403, text: 'Another page may not ask this server.' };
const readOnly: Refused = { status: 405, text: 'This server is read only.' };

/** A link may be followed from anywhere, since only the token makes it one; nothing may be embedded or fetched. */
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

/** In a time that tells nothing of where they differ; of their hashes, so that nothing is told of the length either. */
function isSame(given: string, token: string): boolean {
  const hashOf = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hashOf(given), hashOf(token));
}
