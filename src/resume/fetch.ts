/**
 * A `fetch` that remembers replies: if a later process makes the same request, it returns the same reply without sending
 * anything. Errors are not remembered, so they are retried. A stream is remembered once it has ended.
 */
import type { ReplyRecord } from './layout.ts';
import type { RunMemory } from './run-memory.ts';

type Fetch = typeof globalThis.fetch;

export function makeFetch(memory: RunMemory, live: Fetch): Fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const body = await request.clone().text();
    const call = memory.next('fetch', [request.method, url.pathname + url.search, body]);
    const known = memory.findReply(call);
    if (known) return responseOf(known);
    const response = await live(input, init);
    if (!response.ok || response.body === null) return response;
    return remembering(response, (bytes) => {
      const headers = [...response.headers].filter(
        ([name]) => name !== 'content-encoding' && name !== 'content-length',
      );
      memory.keepReply({ ...call, status: response.status, headers, body: textOrBytes(bytes) });
    });
  };
}

/** `keep` is called before the reader sees the end, so whatever it does next happens after the reply was remembered. */
function remembering(response: Response, keep: (bytes: Buffer) => void): Response {
  const chunks: Uint8Array[] = [];
  const through = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      chunks.push(chunk.slice());
      controller.enqueue(chunk);
    },
    flush: () => keep(Buffer.concat(chunks)),
  });
  const { status, statusText, headers } = response;
  return new Response(response.body?.pipeThrough(through) ?? null, { status, statusText, headers });
}

function responseOf({ status, headers, body }: ReplyRecord): Response {
  return new Response('text' in body ? body.text : Buffer.from(body.base64, 'base64'), { status, headers });
}

function textOrBytes(bytes: Buffer): ReplyRecord['body'] {
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? { text } : { base64: bytes.toString('base64') };
}
