/**
 * The records in the journal of a saved thread. The frame of records is specified in journal/FORMAT.md; each thread has its
 * own folder. A payload consists of a head and literal bytes. The concatenated literals of a thread are its content. A blob
 * is a list of spans of the content, so that equal bytes are stored once. Blobs and values are numbered from 0 in the order
 * of their records. A head is a sequence of integers (unsigned LEB128) and texts. A text is either twice its length,
 * followed by its UTF-8 bytes, or twice the number of an earlier text of the thread, plus one.
 *
 *     record      content, blobs, values: how many there were before it
 *                 count, then blobs: text type, count, then offset and length of each span
 *                 count, then values: 0, blob; or 1 + count of items, base + 1 (0 for none), keep, items
 *     checkpoint  record, texts ns and id, 0 or 1 and text parent, blobs head and metadata,
 *                 count, then channels: text name, version, value. A version is twice a number; or 1 and a text
 *     writes      record, texts ns, id, task, path, count, then writes: index + 16, text channel, value
 *     both        literal bytes up to the end
 */

/** 1023 and below are reserved by the journal. */
export const savedKinds = {
  /** The first record: the JSON text of a `ThreadHead`. */
  thread: 1024,
  checkpoint: 1025,
  writes: 1026,
} as const;

export const savedThreadVersion = 1;

/** LangGraph's special channels have negative indices, from -1 down. */
export const writeIndexBias = 16;

export interface ThreadHead {
  version: number;
  threadId: string;
}

export interface Blob {
  type: string;
  /** Offset and length alternate. */
  spans: number[];
}

/** The number of a blob; or an array: the first `keep` items of an earlier value, then these blobs. */
export type Value = number | { base: number | undefined; keep: number; items: number[] };

export interface RecordHead {
  /** Bytes of content and numbers of blobs and values before this record. A mismatch means that a record is missing. */
  at: [content: number, blobs: number, values: number];
  blobs: Blob[];
  values: Value[];
}

export interface CheckpointHead extends RecordHead {
  ns: string;
  id: string;
  parent: string | undefined;
  /** The blob of the checkpoint without its id and channel values. */
  head: number;
  metadata: number;
  /** Channels with a new version, and the numbers of their values. */
  changed: [channel: string, version: string | number, value: number][];
}

export interface WritesHead extends RecordHead {
  ns: string;
  id: string;
  task: string;
  path: string;
  writes: [index: number, channel: string, value: number][];
}
