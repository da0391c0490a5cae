/**
 * Symbols and unwind tables of one module: from its file, read on demand (exported symbols first, all symbols only if
 * needed), or from a record of earlier lookups. Addresses are link-time addresses.
 */
import { existsSync } from 'node:fs';
import { type ByteSource, FileSource } from '../../../bytes/byte-source.ts';
import { AgentdumpError } from '../../../errors.ts';
import { EhFrame, type FrameDescription } from '../../../formats/dwarf-cfi/eh-frame.ts';
import { type ElfFile, findFileOffset, readElf, type Segment } from '../../../formats/elf/elf-file.ts';
import { PT_GNU_EH_FRAME } from '../../../formats/elf/layout.ts';
import { findBuildId } from '../../../formats/elf/notes.ts';
import { type ElfSymbol, findSymbolTable, type SymbolTable } from '../../../formats/elf/symbols.ts';

export interface ModuleCode {
  readonly segments: readonly Segment[];
  /** The file; absent if there is only a record of it. */
  readonly source?: ByteSource | undefined;
  findExported(name: string): ElfSymbol | undefined;
  exportedWithPrefix(prefix: string): ElfSymbol[];
  /** Searches the exported symbols, then all. */
  findNamed(name: string): ElfSymbol | undefined;
  findFunction(address: number): ElfSymbol | undefined;
  findFrame(address: number): FrameDescription | undefined;
  /** Bytes of the file by address; fewer than requested at the end of a segment. */
  findBytes(address: number, length: number): Uint8Array | undefined;
  close(): void;
}

const debugRoot = '/usr/lib/debug/.build-id';

export class FileCode implements ModuleCode {
  readonly #file: ElfFile;
  readonly #buildId: string | undefined;
  #exported: SymbolTable | null | undefined;
  #all: SymbolTable | null | undefined;
  #frames: EhFrame | null | undefined;

  readonly #closers: (() => void)[];

  constructor(file: ElfFile, buildId: string | undefined, close: () => void) {
    this.#file = file;
    this.#buildId = buildId;
    this.#closers = [close];
  }

  get segments(): readonly Segment[] {
    return this.#file.segments;
  }

  get source(): ByteSource {
    return this.#file.source;
  }

  close(): void {
    for (const close of this.#closers.splice(0)) close();
  }

  findExported(name: string): ElfSymbol | undefined {
    return this.#exportedSymbols()?.find(name);
  }

  exportedWithPrefix(prefix: string): ElfSymbol[] {
    return this.#exportedSymbols()?.withPrefix(prefix) ?? [];
  }

  findNamed(name: string): ElfSymbol | undefined {
    return this.findExported(name) ?? this.#allSymbols()?.find(name);
  }

  findFunction(address: number): ElfSymbol | undefined {
    const symbol = this.#allSymbols()?.findFunction(address);
    if (symbol) return symbol;
    const exported = this.#exportedSymbols()?.findFunction(address);
    // Functions that are not exported may follow one of unknown size.
    return exported && (exported.size > 0 || exported.address === address) ? exported : undefined;
  }

  findFrame(address: number): FrameDescription | undefined {
    this.#frames ??= this.#openFrames() ?? null;
    return this.#frames?.find(address);
  }

  findBytes(address: number, length: number): Uint8Array | undefined {
    const offset = findFileOffset(this.#file, address);
    if (offset === undefined || offset + length > this.#file.source.size) return undefined;
    const bytes = new Uint8Array(length);
    return bytes.subarray(0, this.#file.source.readInto(bytes, offset));
  }

  #exportedSymbols(): SymbolTable | undefined {
    this.#exported ??= findSymbolTable(this.#file, 'dynamic') ?? null;
    return this.#exported ?? undefined;
  }

  /** From the file itself or from the distribution's debug symbol file. */
  #allSymbols(): SymbolTable | undefined {
    this.#all ??= findSymbolTable(this.#file, 'full') ?? this.#debugSymbols() ?? null;
    return this.#all ?? undefined;
  }

  #openFrames(): EhFrame | undefined {
    const segment = this.#file.segments.find((s) => s.type === PT_GNU_EH_FRAME);
    if (!segment) return undefined;
    try {
      return new EhFrame(segment.virtualAddress, (address, length) => this.findBytes(address, length));
    } catch (error) {
      if (error instanceof AgentdumpError) return undefined;
      throw error;
    }
  }

  #debugSymbols(): SymbolTable | undefined {
    const id = this.#buildId;
    const path = id && `${debugRoot}/${id.slice(0, 2)}/${id.slice(2)}.debug`;
    if (!path || !existsSync(path)) return undefined;
    const source = new FileSource(path);
    this.#closers.push(() => source.close());
    const file = readElf(source);
    return findBuildId(file) === id ? findSymbolTable(file, 'full') : undefined;
  }
}
