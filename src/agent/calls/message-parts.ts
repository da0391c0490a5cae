/** Builds the message parts that several providers share. Inline bytes are replaced by their size and hash. */
import type { Message, MessagePart } from '../../journal/layout/agent.ts';
import { hashOf } from '../node-modules.ts';
import { isObject, type JsonObject, stringOf } from './json.ts';

/** A role is a single word that needs no redaction. Any other value is not recorded. */
export const roleOf = (role: unknown): string =>
  typeof role === 'string' && /^[\w-]{1,20}$/.test(role) ? role : 'unknown';

export function textMessage(role: string, content: string): Message {
  return { role, parts: [{ type: 'text', content }] };
}

/** Inline content in base64. */
export function blobPart(mimeType: string, base64: string): MessagePart {
  return {
    type: 'blob',
    modality: modalityOf(mimeType),
    mime_type: mimeType,
    bytes: Math.floor((base64.length * 3) / 4),
    sha256: hashOf('sha256', base64),
  };
}

/** A link. A `data:` URL is treated as inline content. */
export function linkPart(modality: string, url: string): MessagePart {
  const inline = /^data:([^;,]*)(?:;[^,]*)?,/.exec(url.slice(0, 200));
  return inline
    ? blobPart(inline[1] || 'text/plain', url.slice(inline[0].length))
    : { type: 'uri', modality, uri: url };
}

/** A part of a type that is not interpreted; `value` is kept unchanged. */
export function otherPart(block: unknown, kind?: string): MessagePart {
  const type = kind ?? (isObject(block) ? stringOf(block['type']) : undefined);
  return { type: 'other', kind: type ?? 'unknown', value: block };
}

/** Content that is a list of blocks or one plain text. `read` is called for each object of a list. */
export function contentParts(content: unknown, read: (block: JsonObject) => MessagePart): MessagePart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', content }];
  if (!Array.isArray(content)) return [];
  return content.map((block) => {
    if (typeof block === 'string') return { type: 'text', content: block };
    return isObject(block) ? read(block) : otherPart(block);
  });
}

function modalityOf(mimeType: string): string {
  const [kind = ''] = mimeType.split('/');
  return ['image', 'audio', 'video'].includes(kind) ? kind : 'document';
}
