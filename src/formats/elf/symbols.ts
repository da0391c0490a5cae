/**
 * Symbol tables. Only the bytes are kept; names are decoded on demand. A table of 140,000 functions is sorted as a
 * Float64Array in which each number combines address and row; this takes about 20 ms. Source: System V ABI, "Symbol Table".
 */
import { readExactly } from '../../bytes/byte-source.ts';
import type { ElfFile, Section } from './elf-file.ts';
import { SHT_DYNSYM, SHT_STRTAB, SHT_SYMTAB, STT_FUNC, STT_GNU_IFUNC, SYM_SIZE } from './layout.ts';

export interface ElfSymbol {
  /** The linker's name, mangled. */
  name: string;
  /** Link-time address. */
  address: number;
  size: number;
  type: number;
}

/** The row is stored in the bits below the address: 2^21 rows and addresses below 2^32 fit a double. */
const rowSpace = 2 ** 21;

export class SymbolTable {
  readonly count: number;
  readonly #symbols: DataView;
  readonly #names: Buffer;
  #functions: Float64Array | undefined;

  constructor(symbols: Uint8Array, names: Uint8Array) {
    this.count = Math.min(Math.floor(symbols.length / SYM_SIZE), rowSpace - 1);
    this.#symbols = new DataView(symbols.buffer, symbols.byteOffset, symbols.byteLength);
    this.#names = Buffer.from(names.buffer, names.byteOffset, names.byteLength);
  }

  symbol(row: number): ElfSymbol {
    const at = row * SYM_SIZE;
    return {
      name: this.#name(this.#symbols.getUint32(at, true)),
      address: this.#address(row),
      size: Number(this.#symbols.getBigUint64(at + 16, true)),
      type: this.#symbols.getUint8(at + 4) & 15,
    };
  }

  /** The function that contains the address, or the nearest one before it if that one has no size. */
  findFunction(address: number): ElfSymbol | undefined {
    this.#functions ??= this.#sortFunctions();
    let low = 0;
    let high = this.#functions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Math.floor((this.#functions[middle] as number) / rowSpace) <= address) low = middle + 1;
      else high = middle;
    }
    // Of nested labels, the nearest symbol that extends to the address is used; of aliases, the one with the simplest name.
    let best: ElfSymbol | undefined;
    for (let i = low - 1; i >= 0 && i >= low - 16; i--) {
      const symbol = this.symbol((this.#functions[i] as number) % rowSpace);
      if (best && symbol.address !== best.address) break;
      const reaches = address < symbol.address + symbol.size || symbol.size === 0;
      if (reaches && (!best || underscores(symbol.name) < underscores(best.name))) best = symbol;
    }
    return best;
  }

  /** All defined symbols whose name starts with the prefix. */
  withPrefix(prefix: string): ElfSymbol[] {
    const wanted = new Set<number>();
    for (let at = this.#names.indexOf(prefix); at >= 0; at = this.#names.indexOf(prefix, at + 1))
      if (at === 0 || this.#names[at - 1] === 0) wanted.add(at);
    return this.#rowsNamed(wanted);
  }

  find(name: string): ElfSymbol | undefined {
    const at = this.#names.indexOf(`\0${name}\0`);
    return at < 0 ? undefined : this.#rowsNamed(new Set([at + 1]))[0];
  }

  /** All defined symbols whose name contains the text. */
  containing(text: string): ElfSymbol[] {
    const wanted = new Set<number>();
    for (let at = this.#names.indexOf(text); at >= 0; at = this.#names.indexOf(text, at + 1))
      wanted.add(this.#names.lastIndexOf(0, at) + 1);
    return this.#rowsNamed(wanted);
  }

  #rowsNamed(offsets: Set<number>): ElfSymbol[] {
    const found: ElfSymbol[] = [];
    if (offsets.size === 0) return found;
    for (let row = 0; row < this.count; row++)
      if (offsets.has(this.#symbols.getUint32(row * SYM_SIZE, true)) && this.#isDefined(row))
        found.push(this.symbol(row));
    return found;
  }

  #sortFunctions(): Float64Array {
    const packed = new Float64Array(this.count);
    let used = 0;
    for (let row = 0; row < this.count; row++) {
      const type = this.#symbols.getUint8(row * SYM_SIZE + 4) & 15;
      if ((type !== STT_FUNC && type !== STT_GNU_IFUNC) || !this.#isDefined(row) || !this.#hasName(row))
        continue;
      const address = this.#address(row);
      if (address < 2 ** 32) packed[used++] = address * rowSpace + row;
    }
    return packed.slice(0, used).sort();
  }

  #isDefined(row: number): boolean {
    return this.#symbols.getUint16(row * SYM_SIZE + 6, true) !== 0;
  }

  #hasName(row: number): boolean {
    const byte = this.#names[this.#symbols.getUint32(row * SYM_SIZE, true)];
    return byte !== undefined && byte !== 0;
  }

  #address(row: number): number {
    const at = row * SYM_SIZE + 8;
    return this.#symbols.getUint32(at + 4, true) * 2 ** 32 + this.#symbols.getUint32(at, true);
  }

  #name(offset: number): string {
    const end = this.#names.indexOf(0, offset);
    return this.#names.toString('latin1', offset, end < 0 ? offset : end);
  }
}

const underscores = (name: string) => name.length - name.replace(/^_+/, '').length;

const sectionTypes = { dynamic: SHT_DYNSYM, full: SHT_SYMTAB };

/** The table of exported symbols (`dynamic`), or of all symbols that were not stripped (`full`). Undefined without a valid one. */
export function findSymbolTable(file: ElfFile, kind: keyof typeof sectionTypes): SymbolTable | undefined {
  const section = file.sections.find((s) => s.type === sectionTypes[kind]);
  const strings = section && file.sections[section.link];
  if (!section || strings?.type !== SHT_STRTAB) return undefined;
  const symbols = findBytes(file, section);
  const names = findBytes(file, strings);
  // Every string table starts and ends with an empty name.
  if (!symbols || names?.[0] !== 0 || names.at(-1) !== 0) return undefined;
  return new SymbolTable(symbols, names);
}

function findBytes(file: ElfFile, section: Section): Uint8Array | undefined {
  if (section.offset + section.size > file.source.size) return undefined;
  return readExactly(file.source, section.offset, section.size, { format: 'elf', field: 'symbol table' });
}
