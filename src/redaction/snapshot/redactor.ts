/**
 * Redacts a V8 heap snapshot while it is written, in chunks that are cut anywhere and in one pass: nodes and edges precede
 * the strings, so it is known by then which strings are names. The graph and the names of classes, functions and properties
 * are kept; strings that are only values are removed. Anything that the head does not declare stops the snapshot with an
 * error, so that nothing unknown passes.
 */
import { MalformedInput } from '../../errors.ts';
import { createPolicy, type Policy } from '../policy.ts';
import { readSnapshotColumns, type SnapshotColumns } from './meta.ts';
import { NameMarks, RecordReader, unexpectedString } from './names.ts';
import { type SnapshotStrings, StringListRewriter } from './strings.ts';

export interface SnapshotRedactorOptions {
  strings: SnapshotStrings;
  /** Searches the strings that are kept. Default: a policy that only knows shapes. */
  policy?: Policy;
}

export interface SnapshotRedactor {
  /** Takes the next bytes. Returns the output that is ready, which may share the chunk's memory. */
  write(chunk: Buffer): Buffer;
  end(): Buffer;
}

export function createSnapshotRedactor(options: SnapshotRedactorOptions): SnapshotRedactor {
  return new SnapshotStream(options.strings, options.policy ?? createPolicy());
}

/** V8 writes about 2,000 bytes before the nodes. */
const longestHead = 1 << 20;
const longestName = 64;
const nodesMark = '"nodes":[';

/** head: before the nodes; between: from the end of a list to the start of the next; the others are lists. */
type Phase = 'head' | 'between' | 'records' | 'numbers' | 'strings' | 'done';

class SnapshotStream implements SnapshotRedactor {
  private readonly strings: SnapshotStrings;
  private readonly policy: Policy;
  private readonly marks = new NameMarks();
  /** Ids of nodes that are strings or similar values. */
  private readonly values = new NameMarks();
  private phase: Phase = 'head';
  private columns!: SnapshotColumns;
  private records!: RecordReader;
  private list: StringListRewriter | undefined;
  /** The unprocessed part of the head, or of the text between two lists. */
  private held = '';
  private depth = 0;
  private out: Buffer[] = [];

  constructor(strings: SnapshotStrings, policy: Policy) {
    this.strings = strings;
    this.policy = policy;
  }

  write(chunk: Buffer): Buffer {
    let i = 0;
    while (i < chunk.length) i = this.step(chunk, i);
    return this.take();
  }

  end(): Buffer {
    if (this.phase !== 'done')
      throw new MalformedInput('The heap snapshot ends before its strings do.', {
        format: 'heapsnapshot',
        field: this.phase,
      });
    return this.take();
  }

  private step(chunk: Buffer, i: number): number {
    switch (this.phase) {
      case 'head':
        return this.readHead(chunk, i);
      case 'between':
        return this.readBetween(chunk, i);
      case 'records':
        return this.passNumbers(chunk, i, this.records.read(chunk, i));
      case 'numbers':
        return this.passNumbers(chunk, i, this.skipNumbers(chunk, i));
      case 'strings':
        return this.readStrings(chunk, i);
      default:
        return this.readTail(chunk, i);
    }
  }

  private readHead(chunk: Buffer, i: number): number {
    const before = this.held.length;
    this.held += chunk.toString('latin1', i, Math.min(chunk.length, i + longestHead));
    const at = this.held.indexOf(nodesMark);
    if (at < 0) {
      if (this.held.length >= longestHead) throw this.malformed('nodes');
      return chunk.length;
    }
    this.columns = readSnapshotColumns(this.held.slice(0, at));
    this.push(this.held.slice(0, at));
    this.held = '';
    this.phase = 'between';
    // The mark may have started in an earlier chunk; the part that was already read is kept in `held`.
    const consumed = at - before;
    if (consumed >= 0) return i + consumed;
    this.held = nodesMark.slice(0, -consumed);
    return i;
  }

  /** `,"edges":[`: only this may be between two lists, and only the object's end after the last one. */
  private readBetween(chunk: Buffer, i: number): number {
    const end = chunk.indexOf(91, i);
    const stop = end < 0 ? chunk.length : end + 1;
    this.held += chunk.toString('latin1', i, Math.min(stop, i + longestName));
    if (this.held.length > longestName) throw this.malformed('list name');
    if (end < 0) return stop;
    const name = /^[\s,]*"(\w+)"\s*:\s*\[$/.exec(this.held)?.[1];
    if (name === undefined) throw this.malformed('list name');
    this.push(this.held);
    this.held = '';
    this.openList(name);
    return stop;
  }

  private openList(name: string): void {
    this.depth = 1;
    if (name === 'nodes' || name === 'edges') {
      this.records = new RecordReader(this.columns[name], this.marks, this.values);
      this.phase = 'records';
    } else if (name === 'strings') {
      this.list = new StringListRewriter(this.marks, this.values, this.policy, this.strings);
      this.phase = 'strings';
    } else this.phase = 'numbers';
  }

  /** Up to the bracket that closes the list, or the chunk's end. */
  private skipNumbers(chunk: Buffer, from: number): number {
    for (let i = from; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (byte === 91) this.depth += 1;
      else if (byte === 93) {
        this.depth -= 1;
        if (this.depth === 0) return i;
      } else if (byte === 34) throw unexpectedString();
    }
    return chunk.length;
  }

  private passNumbers(chunk: Buffer, from: number, stop: number): number {
    const end = Math.min(stop + 1, chunk.length);
    this.out.push(chunk.subarray(from, end));
    if (stop < chunk.length) this.phase = 'between';
    return end;
  }

  private readStrings(chunk: Buffer, i: number): number {
    const list = this.list!;
    const stop = list.read(chunk, i);
    const isLast = stop < chunk.length;
    this.push(list.take(isLast));
    if (!isLast) return stop;
    this.push(']');
    this.phase = 'done';
    return stop + 1;
  }

  /** Only the object's end may follow the strings. */
  private readTail(chunk: Buffer, i: number): number {
    const rest = chunk.toString('latin1', i, chunk.length);
    if (!/^[\s}]*$/.test(rest)) throw this.malformed('end');
    this.push(rest);
    return chunk.length;
  }

  private push(text: string): void {
    if (text !== '') this.out.push(Buffer.from(text, 'latin1'));
  }

  private take(): Buffer {
    const { out } = this;
    this.out = [];
    return out.length === 1 ? out[0]! : Buffer.concat(out);
  }

  private malformed(field: string): MalformedInput {
    return new MalformedInput('The heap snapshot is not laid out as V8 writes it.', {
      format: 'heapsnapshot',
      field,
    });
  }
}
