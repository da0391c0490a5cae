/**
 * Encodes and decodes heads of records as documented in layout.ts. Knows the order of the fields, and does not validate them.
 */
import { HeadReader, HeadWriter, type Texts } from './head-bytes.ts';
import {
  type Blob,
  type CheckpointHead,
  type RecordHead,
  type Value,
  type WritesHead,
  writeIndexBias,
} from './layout.ts';
import { malformed } from './malformed.ts';

export function encodeCheckpoint(texts: Texts, head: CheckpointHead, literals: Uint8Array): Uint8Array {
  const out = new HeadWriter(texts);
  putRecord(out, head);
  out.text(head.ns);
  out.text(head.id);
  out.int(head.parent === undefined ? 0 : 1);
  if (head.parent !== undefined) out.text(head.parent);
  out.int(head.head);
  out.int(head.metadata);
  out.int(head.changed.length);
  for (const [channel, version, value] of head.changed) {
    out.text(channel);
    putVersion(out, version);
    out.int(value);
  }
  return out.finish(literals);
}

export function encodeWrites(texts: Texts, head: WritesHead, literals: Uint8Array): Uint8Array {
  const out = new HeadWriter(texts);
  putRecord(out, head);
  for (const text of [head.ns, head.id, head.task, head.path]) out.text(text);
  out.int(head.writes.length);
  for (const [index, channel, value] of head.writes) {
    out.int(index + writeIndexBias);
    out.text(channel);
    out.int(value);
  }
  return out.finish(literals);
}

export function decodeCheckpoint(
  texts: Texts,
  payload: Uint8Array,
): { head: CheckpointHead; literals: Uint8Array } {
  const from = new HeadReader(texts, payload);
  const record = readRecord(from);
  const ns = from.text('ns');
  const id = from.text('id');
  const parent = from.int('parent') === 0 ? undefined : from.text('parent');
  const [head, metadata] = [from.int('head'), from.int('metadata')];
  const changed = from.list('changed', (): CheckpointHead['changed'][number] => [
    from.text('channel'),
    readVersion(from),
    from.int('value'),
  ]);
  return { head: { ...record, ns, id, parent, head, metadata, changed }, literals: from.rest() };
}

export function decodeWrites(texts: Texts, payload: Uint8Array): { head: WritesHead; literals: Uint8Array } {
  const from = new HeadReader(texts, payload);
  const record = readRecord(from);
  const [ns, id, task, path] = [from.text('ns'), from.text('id'), from.text('task'), from.text('path')];
  const writes = from.list('writes', (): WritesHead['writes'][number] => [
    from.int('index') - writeIndexBias,
    from.text('channel'),
    from.int('value'),
  ]);
  return { head: { ...record, ns, id, task, path, writes }, literals: from.rest() };
}

function putRecord(out: HeadWriter, { at, blobs, values }: RecordHead): void {
  for (const number of at) out.int(number);
  out.int(blobs.length);
  for (const { type, spans } of blobs) {
    out.text(type);
    out.int(spans.length / 2);
    for (const number of spans) out.int(number);
  }
  out.int(values.length);
  for (const value of values) putValue(out, value);
}

function putValue(out: HeadWriter, value: Value): void {
  if (typeof value === 'number') {
    out.int(0);
    out.int(value);
    return;
  }
  out.int(1 + value.items.length);
  out.int(value.base === undefined ? 0 : value.base + 1);
  out.int(value.keep);
  for (const item of value.items) out.int(item);
}

function readRecord(from: HeadReader): RecordHead {
  const at: RecordHead['at'] = [from.int('content'), from.int('blobs'), from.int('values')];
  const blobs = from.list(
    'blobs',
    (): Blob => ({
      type: from.text('type'),
      spans: from.list('spans', () => [from.int('offset'), from.int('length')]).flat(),
    }),
  );
  return { at, blobs, values: from.list('values', () => readValue(from)) };
}

function readValue(from: HeadReader): Value {
  const count = from.count('value');
  if (count === 0) return from.int('blob');
  const [base, keep] = [from.int('base'), from.int('keep')];
  const items = Array.from({ length: count - 1 }, () => from.int('item'));
  return { base: base === 0 ? undefined : base - 1, keep, items };
}

/** LangGraph's own versions are integers; other savers may use different ones. */
function putVersion(out: HeadWriter, version: string | number): void {
  if (typeof version === 'number' && Number.isSafeInteger(version) && version >= 0 && version < 2 ** 51) {
    out.int(2 * version);
    return;
  }
  out.int(1);
  out.text(JSON.stringify(version));
}

function readVersion(from: HeadReader): string | number {
  const word = from.int('version');
  if (word % 2 === 0) return word / 2;
  const text = from.text('version');
  try {
    return JSON.parse(text) as string | number;
  } catch {
    throw malformed('version', 'JSON', text.slice(0, 40));
  }
}
