/**
 * What one module's file says of its code: symbols (exported ones first, all of them when those do not help) and
 * unwinding tables. Everything is opened when first asked for. Addresses are link-time.
 */
import { existsSync } from 'node:fs';
import { FileSource } from '../../bytes/byte-source.ts';
import { AgentdumpError } from '../../errors.ts';
import { EhFrame, type FrameDescription } from '../../formats/dwarf-cfi/eh-frame.ts';
import { type ElfFile, findFileOffset, readElf } from '../../formats/elf/elf-file.ts';
import { PT_GNU_EH_FRAME } from '../../formats/elf/layout.ts';
import { findBuildId } from '../../formats/elf/notes.ts';
import { type ElfSymbol, findSymbolTable, type SymbolTable } from '../../formats/elf/symbols.ts';

const debugRoot = '/usr/lib/debug/.build-id';

export class ModuleCode {
  readonly file: ElfFile;
  readonly #buildId: string | undefined;
  #exported: SymbolTable | null | undefined;
  #all: SymbolTable | null | undefined;
  #frames: EhFrame | null | undefined;

  readonly #closers: (() => void)[];

  constructor(file: ElfFile, buildId: string | undefined, close: () => void) {
    this.file = file;
    this.#buildId = buildId;
    this.#closers = [close];
  }

  close(): void {
    for (const close of this.#closers.splice(0)) close();
  }

  get exported(): SymbolTable | undefined {
    this.#exported ??= findSymbolTable(this.file, 'dynamic') ?? null;
    return this.#exported ?? undefined;
  }

  /** All symbols, from the file itself or from the distribution's file of debugging symbols. */
  get all(): SymbolTable | undefined {
    this.#all ??= findSymbolTable(this.file, 'full') ?? this.#debugSymbols() ?? null;
    return this.#all ?? undefined;
  }

  findFunction(address: number): ElfSymbol | undefined {
    return this.all?.findFunction(address) ?? this.exported?.findFunction(address);
  }

  findFrame(address: number): FrameDescription | undefined {
    this.#frames ??= this.#openFrames() ?? null;
    return this.#frames?.find(address);
  }

  /** Bytes of the file by link-time address. */
  findBytes(address: number, length: number): Uint8Array | undefined {
    const offset = findFileOffset(this.file, address);
    if (offset === undefined || offset + length > this.file.source.size) return undefined;
    const bytes = new Uint8Array(length);
    return bytes.subarray(0, this.file.source.readInto(bytes, offset));
  }

  #openFrames(): EhFrame | undefined {
    const segment = this.file.segments.find((s) => s.type === PT_GNU_EH_FRAME);
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
