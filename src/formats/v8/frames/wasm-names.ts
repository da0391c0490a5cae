/** Reads names from the bytes of a WebAssembly module. Source: the core specification, 5.5 and 7.4. */

export interface WasmNames {
  module?: string;
  /** Imported functions come first in the numbering of functions. */
  importedFunctions: number;
  findFunction(index: number): string | undefined;
}

export const wasmMagic = 0x6d73_6100;
export const wasmVersion = 1;
const headerBytes = 8;
const section = { custom: 0, import: 2, export: 7 };
const kinds = { function: 0, table: 1, memory: 2, global: 3, tag: 4 };
const hasMaximum = 1;

/**
 * `read` returns bytes of the module from an offset, and throws if they are absent. Throws RangeError if it is not a module.
 */
export function readWasmNames(
  read: (offset: number, length: number) => Uint8Array,
  length: number,
  longestSection: number,
): WasmNames {
  const exported = new Map<number, string>();
  const named = new Map<number, string>();
  const names: WasmNames = {
    importedFunctions: 0,
    findFunction: (index) => named.get(index) ?? exported.get(index),
  };
  for (let at = headerBytes; at < length; ) {
    const head = new Cursor(read(at, Math.min(6, length - at)));
    const id = head.byte();
    const size = head.number();
    const start = at + head.at;
    at = start + size;
    const wanted = Object.values(section).includes(id) && size <= longestSection && at <= length;
    if (!wanted) continue;
    const cursor = new Cursor(read(start, size));
    if (id === section.import) names.importedFunctions = countImports(cursor);
    else if (id === section.export) readExports(cursor, exported);
    else if (cursor.text() === 'name') readNameSection(cursor, names, named);
  }
  return names;
}

function countImports(cursor: Cursor): number {
  let functions = 0;
  for (let count = cursor.number(); count > 0; count--) {
    cursor.text();
    cursor.text();
    const kind = cursor.byte();
    if (kind === kinds.function) functions++;
    skipImport(cursor, kind);
  }
  return functions;
}

function skipImport(cursor: Cursor, kind: number): void {
  if (kind === kinds.function) cursor.number();
  else if (kind === kinds.table) {
    skipType(cursor);
    skipLimits(cursor);
  } else if (kind === kinds.memory) skipLimits(cursor);
  else if (kind === kinds.global) {
    skipType(cursor);
    cursor.byte();
  } else if (kind === kinds.tag) {
    cursor.byte();
    cursor.number();
  } else throw new RangeError(`an import of kind ${kind}`);
}

/** A reference to a type that the module defines has one more number. */
function skipType(cursor: Cursor): void {
  const [nullable, plain] = [0x63, 0x64];
  const type = cursor.byte();
  if (type === nullable || type === plain) cursor.number();
}

function skipLimits(cursor: Cursor): void {
  const flags = cursor.byte();
  cursor.number();
  if (flags & hasMaximum) cursor.number();
}

function readExports(cursor: Cursor, exported: Map<number, string>): void {
  for (let count = cursor.number(); count > 0; count--) {
    const name = cursor.text();
    const kind = cursor.byte();
    const index = cursor.number();
    if (kind === kinds.function && !exported.has(index)) exported.set(index, name);
  }
}

function readNameSection(cursor: Cursor, names: WasmNames, named: Map<number, string>): void {
  const part = { module: 0, functions: 1 };
  while (!cursor.isDone) {
    const id = cursor.byte();
    const end = cursor.number() + cursor.at;
    if (id === part.module) names.module = cursor.text();
    else if (id === part.functions)
      for (let count = cursor.number(); count > 0; count--) {
        const index = cursor.number();
        named.set(index, cursor.text());
      }
    cursor.at = end;
  }
}

class Cursor {
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isDone(): boolean {
    return this.at >= this.#bytes.length;
  }

  byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw new RangeError('a WebAssembly section ends early');
    return byte;
  }

  /** LEB128, unsigned; up to 2^53. */
  number(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      if (scale > 2 ** 49) throw new RangeError('a WebAssembly number is too long');
    }
  }

  text(): string {
    const length = this.number();
    if (this.at + length > this.#bytes.length) throw new RangeError('a WebAssembly name ends early');
    this.at += length;
    return Buffer.from(this.#bytes.subarray(this.at - length, this.at)).toString('utf8');
  }
}
