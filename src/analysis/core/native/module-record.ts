/**
 * The lookups of an analysis in the modules' files, with their results, as a note of a mini core: it can then be read without
 * that build of Node. A few hundred symbols and rows of unwind tables replace 100 MB of executable. Any other lookup uses the
 * file, if there is one of the same build.
 */
import type { ByteSource } from '../../../bytes/byte-source.ts';
import type { FrameDescription } from '../../../formats/dwarf-cfi/eh-frame.ts';
import type { Segment } from '../../../formats/elf/elf-file.ts';
import type { ElfSymbol } from '../../../formats/elf/symbols.ts';
import type { ModuleCode } from './module-code.ts';

type SymbolRow = [name: string, address: number, size: number, type: number];
type SegmentRow = [
  type: number,
  flags: number,
  offset: number,
  virtualAddress: number,
  fileSize: number,
  memorySize: number,
  align: number,
];
/** Byte strings are base64. */
type FrameRow = [
  start: number,
  end: number,
  instructions: string,
  codeAlign: number,
  dataAlign: number,
  returnRegister: number,
  isSignalFrame: boolean,
  commonInstructions: string,
];

/** Results by their key; null if there was none. */
export interface ModuleRecord {
  path: string;
  segments: SegmentRow[];
  exported: Record<string, SymbolRow | null>;
  prefixes: Record<string, SymbolRow[]>;
  named: Record<string, SymbolRow | null>;
  functions: Record<string, SymbolRow | null>;
  frames: Record<string, FrameRow | null>;
  /** By `<address>+<length>`. */
  bytes: Record<string, string | null>;
}

const emptyRecord = (path: string): ModuleRecord => ({
  path,
  segments: [],
  exported: {},
  prefixes: {},
  named: {},
  functions: {},
  frames: {},
  bytes: {},
});

/** Forwards every lookup and records its result. */
export class RecordingCode implements ModuleCode {
  readonly record: ModuleRecord;
  readonly #code: ModuleCode;

  constructor(path: string, code: ModuleCode) {
    this.#code = code;
    this.record = { ...emptyRecord(path), segments: code.segments.map(segmentRow) };
  }

  get segments(): readonly Segment[] {
    return this.#code.segments;
  }

  get source(): ByteSource | undefined {
    return this.#code.source;
  }

  findExported(name: string): ElfSymbol | undefined {
    const found = this.#code.findExported(name);
    this.record.exported[name] = symbolRow(found);
    return found;
  }

  exportedWithPrefix(prefix: string): ElfSymbol[] {
    const found = this.#code.exportedWithPrefix(prefix);
    this.record.prefixes[prefix] = found.map((symbol) => symbolRow(symbol) as SymbolRow);
    return found;
  }

  findNamed(name: string): ElfSymbol | undefined {
    const found = this.#code.findNamed(name);
    this.record.named[name] = symbolRow(found);
    return found;
  }

  findFunction(address: number): ElfSymbol | undefined {
    const found = this.#code.findFunction(address);
    this.record.functions[address] = symbolRow(found);
    return found;
  }

  findFrame(address: number): FrameDescription | undefined {
    const found = this.#code.findFrame(address);
    this.record.frames[address] = found ? frameRow(found) : null;
    return found;
  }

  findBytes(address: number, length: number): Uint8Array | undefined {
    const found = this.#code.findBytes(address, length);
    this.record.bytes[`${address}+${length}`] = found ? toBase64(found) : null;
    return found;
  }

  close(): void {
    this.#code.close();
  }
}

/** Answers from a record; `open` returns the file for lookups that were not recorded. */
export class RecordedCode implements ModuleCode {
  readonly segments: readonly Segment[];
  readonly #record: ModuleRecord;
  readonly #open: () => ModuleCode | undefined;
  #file: ModuleCode | null | undefined;

  constructor(record: ModuleRecord, open: () => ModuleCode | undefined) {
    this.#record = record;
    this.#open = open;
    this.segments = record.segments.map(segmentOf);
  }

  findExported(name: string): ElfSymbol | undefined {
    return this.#answer(this.#record.exported[name], symbolOf, (file) => file.findExported(name));
  }

  exportedWithPrefix(prefix: string): ElfSymbol[] {
    const rows = this.#record.prefixes[prefix];
    return rows ? rows.map(symbolOf) : (this.#fallback()?.exportedWithPrefix(prefix) ?? []);
  }

  findNamed(name: string): ElfSymbol | undefined {
    return this.#answer(this.#record.named[name], symbolOf, (file) => file.findNamed(name));
  }

  findFunction(address: number): ElfSymbol | undefined {
    return this.#answer(this.#record.functions[address], symbolOf, (file) => file.findFunction(address));
  }

  findFrame(address: number): FrameDescription | undefined {
    return this.#answer(this.#record.frames[address], frameOf, (file) => file.findFrame(address));
  }

  findBytes(address: number, length: number): Uint8Array | undefined {
    const row = this.#record.bytes[`${address}+${length}`];
    return this.#answer(row, fromBase64, (file) => file.findBytes(address, length));
  }

  close(): void {
    this.#file?.close();
  }

  #answer<Row, Answer>(
    row: Row | null | undefined,
    read: (row: Row) => Answer,
    ask: (file: ModuleCode) => Answer | undefined,
  ): Answer | undefined {
    if (row === null) return undefined;
    if (row !== undefined) return read(row);
    const file = this.#fallback();
    return file && ask(file);
  }

  #fallback(): ModuleCode | undefined {
    this.#file ??= this.#open() ?? null;
    return this.#file ?? undefined;
  }
}

const symbolRow = (symbol: ElfSymbol | undefined): SymbolRow | null =>
  symbol ? [symbol.name, symbol.address, symbol.size, symbol.type] : null;
const symbolOf = ([name, address, size, type]: SymbolRow): ElfSymbol => ({ name, address, size, type });

const segmentRow = (s: Segment): SegmentRow => [
  s.type,
  s.flags,
  s.offset,
  s.virtualAddress,
  s.fileSize,
  s.memorySize,
  s.align,
];
const segmentOf = ([
  type,
  flags,
  offset,
  virtualAddress,
  fileSize,
  memorySize,
  align,
]: SegmentRow): Segment => ({
  type,
  flags,
  offset,
  virtualAddress,
  fileSize,
  memorySize,
  align,
});

const frameRow = ({ start, end, instructions, common }: FrameDescription): FrameRow => [
  start,
  end,
  toBase64(instructions),
  Number(common.codeAlign),
  Number(common.dataAlign),
  common.returnRegister,
  common.isSignalFrame,
  toBase64(common.instructions),
];
/** Fields that are only needed to parse the tables are left empty. */
const frameOf = ([start, end, bytes, code, data, column, isSignal, first]: FrameRow): FrameDescription => ({
  start,
  end,
  instructions: fromBase64(bytes),
  common: {
    codeAlign: BigInt(code),
    dataAlign: BigInt(data),
    returnRegister: column,
    pointerEncoding: 0,
    hasAugmentation: false,
    isSignalFrame: isSignal,
    instructions: fromBase64(first),
  },
});

const toBase64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const fromBase64 = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));

/** Parses an untrusted note; undefined if anything is invalid. */
export function parseModuleRecords(bytes: Uint8Array): ModuleRecord[] | undefined {
  try {
    const records: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return Array.isArray(records) && records.every(isRecord)
      ? records.map((record) => ({ ...emptyRecord(record.path), ...withoutPrototypes(record) }))
      : undefined;
  } catch {
    return undefined;
  }
}

/** Without this, a name like `constructor` would be found on the prototype. */
function withoutPrototypes(record: ModuleRecord): ModuleRecord {
  const plain = <T>(rows: Record<string, T>): Record<string, T> => Object.assign(Object.create(null), rows);
  return {
    ...record,
    exported: plain(record.exported),
    prefixes: plain(record.prefixes),
    named: plain(record.named),
    functions: plain(record.functions),
    frames: plain(record.frames),
    bytes: plain(record.bytes),
  };
}

function isRecord(value: unknown): value is ModuleRecord {
  const record = value as Partial<ModuleRecord> | null;
  return (
    typeof record?.path === 'string' &&
    isRows(record.segments, isSegmentRow) &&
    isTable(record.exported, isSymbolRow) &&
    isTable(record.named, isSymbolRow) &&
    isTable(record.functions, isSymbolRow) &&
    isTable(record.frames, isFrameRow) &&
    isTable(record.bytes, (row) => typeof row === 'string') &&
    isTable(record.prefixes, (rows) => isRows(rows, isSymbolRow))
  );
}

const isRows = (rows: unknown, isRow: (row: unknown) => boolean): boolean =>
  Array.isArray(rows) && rows.every(isRow);
const isTable = (table: unknown, isRow: (row: unknown) => boolean): boolean =>
  typeof table === 'object' &&
  table !== null &&
  Object.values(table).every((row) => row === null || isRow(row));
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isSegmentRow = (row: unknown): boolean => Array.isArray(row) && row.length === 7 && row.every(isCount);
const isSymbolRow = (row: unknown): boolean =>
  Array.isArray(row) && row.length === 4 && typeof row[0] === 'string' && row.slice(1).every(isCount);
const isFrameRow = (row: unknown): boolean =>
  Array.isArray(row) &&
  row.length === 8 &&
  [row[0], row[1], row[3], row[5]].every(isCount) &&
  Number.isSafeInteger(row[4]) &&
  typeof row[6] === 'boolean' &&
  typeof row[2] === 'string' &&
  typeof row[7] === 'string';
