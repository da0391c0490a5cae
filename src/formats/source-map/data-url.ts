/**
 * Maps inside the generated text: the `sourceMappingURL` comment and the `data:` URL it may hold, base64 or percent
 * encoded. Source: ECMA-426, https://tc39.es/ecma426/#sec-linking-inline, RFC 2397.
 */
import { MalformedInput } from '../../errors.ts';

/** The bytes of a `data:` URL. Throws MalformedInput for any other text. */
export function readDataUrl(url: string): Uint8Array {
  const comma = url.startsWith('data:') ? url.indexOf(',') : -1;
  if (comma < 0)
    throw new MalformedInput('source map: no data: URL', {
      format: 'source-map',
      field: 'data URL',
      wanted: 'data:…,…',
    });
  const body = url.slice(comma + 1);
  if (/;\s*base64$/i.test(url.slice(5, comma).slice(-16))) return Buffer.from(body, 'base64');
  return decodePercent(body);
}

/** A percent sign that does not begin an escape is kept, as in the URL standard. */
function decodePercent(body: string): Uint8Array {
  if (!body.includes('%')) return Buffer.from(body);
  const bytes = Buffer.from(body);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at] as number;
    if (byte === 0x25) {
      const value = hexDigit(bytes[at + 1]) * 16 + hexDigit(bytes[at + 2]);
      if (value >= 0) {
        byte = value;
        at += 2;
      }
    }
    bytes[length++] = byte;
  }
  return bytes.subarray(0, length);
}

/** -1000 for anything but a hexadecimal digit, so that a sum that includes it is negative. */
function hexDigit(code: number | undefined): number {
  if (code === undefined) return -1000;
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1000;
}

/** The URL of the last `sourceMappingURL` comment of a generated text. */
export function findMapUrl(generated: string): string | undefined {
  const at = Math.max(
    generated.lastIndexOf('//# sourceMappingURL='),
    generated.lastIndexOf('//@ sourceMappingURL='),
    generated.lastIndexOf('/*# sourceMappingURL='),
  );
  if (at < 0) return undefined;
  const start = at + '//# sourceMappingURL='.length;
  const end = generated.slice(start).search(/[\s'"]|\*\//);
  const url = generated.slice(start, end < 0 ? undefined : start + end);
  return url || undefined;
}

/** The id that bundlers write into both files, `//# debugId=…`, to detect stale maps. */
export function findDebugId(generated: string): string | undefined {
  const tail = generated.slice(-4096);
  return /\/\/# debugId=([0-9a-fA-F-]{8,64})/.exec(tail)?.[1];
}
