/**
 * Opens V8 in a core with V8's own postmortem metadata, the symbols in the executable (or libnode), and creates the readers
 * of JavaScript frames and values. A V8 that can't be confirmed is refused with a gap.
 */
import { AgentdumpError } from '../../../errors.ts';
import type { ElfSymbol } from '../../../formats/elf/symbols.ts';
import { BytecodeSizes } from '../../../formats/v8/frames/code.ts';
import { type BinaryTables, FrameReader } from '../../../formats/v8/frames/frames.ts';
import { Functions } from '../../../formats/v8/frames/functions.ts';
import { Scripts } from '../../../formats/v8/frames/script.ts';
import { matchOpcodes } from '../../../formats/v8/frames/translation-opcodes.ts';
import { WasmReader } from '../../../formats/v8/frames/wasm-code.ts';
import { V8Heap } from '../../../formats/v8/heap/heap.ts';
import {
  findLayout,
  findProvenVersion,
  onArm64,
  type V8Layout,
  type V8Version,
} from '../../../formats/v8/heap/object-layout.ts';
import { V8Metadata } from '../../../formats/v8/metadata.ts';
import { TextHashes } from '../../../formats/v8/text-hashes.ts';
import { VirtualMemory } from '../../../formats/v8/virtual-memory.ts';
import type { Gap } from '../../../model/verdict.ts';
import type { CoreDump } from '../core-dump.ts';
import { type CoreModule, findRuntimeAddress } from '../native/module-map.ts';

export interface V8Runtime {
  /** The module that contains V8. */
  module: CoreModule;
  version: V8Version;
  heap: V8Heap;
  /** The same heap including objects that optimised code never allocated; slower, used for frames and their values. */
  values: V8Heap;
  texts: TextHashes;
  scripts: Scripts;
  functions: Functions;
  frames: FrameReader;
  wasm: WasmReader;
  binary: BinaryTables;
}

const part = 'JavaScript of the core';
const prefix = 'v8dbg_';

/** `choose`: another layout than the table's, used to derive a new row of the table. */
export function openV8(dump: CoreDump, gaps: Gap[], choose = findLayout): V8Runtime | undefined {
  const module = dump.modules.modules.find((m) => m.code?.findExported(`${prefix}HeapObjectTag`));
  if (!module?.code) {
    gaps.push({ part, reason: 'no module of the core describes a V8', lookedFor: `${prefix}* symbols` });
    return undefined;
  }
  const metadata = new V8Metadata(readConstants(module));
  // A stripped executable may have lost the symbols of the version.
  const version = findVersion(dump, module) ?? findProvenVersion(metadata);
  if (!version) {
    gaps.push({ part, reason: 'the version of V8 could not be read', lookedFor: 'v8::internal::Version' });
    return undefined;
  }
  try {
    return openVersion(dump, { module, metadata, version }, gaps, choose);
  } catch (error) {
    if (!(error instanceof AgentdumpError)) throw error;
    gaps.push({ part, reason: error.message });
    return undefined;
  }
}

function openVersion(
  dump: CoreDump,
  { module, metadata, version }: { module: CoreModule; metadata: V8Metadata; version: V8Version },
  gaps: Gap[],
  choose: typeof findLayout,
): V8Runtime | undefined {
  const chosen = choose(metadata, version);
  if (!chosen) {
    gaps.push({ part, reason: `V8 ${version.major}.${version.minor} is older than any that can be read` });
    return undefined;
  }
  const layout = dump.core.machine === 'arm64' ? onArm64(chosen) : chosen;
  if (!layout.isProven)
    gaps.push({
      part,
      reason: `V8 ${version.major}.${version.minor} was never tested: what could not be confirmed is left out`,
    });
  else if (!layout.hasProvenConstants)
    gaps.push({
      part,
      reason: `the constants by which this V8 describes itself are not those that were tested with V8 ${version.major}.${version.minor}: its executable may be damaged or built differently`,
    });
  const texts = new TextHashes((read) => dump.memory.unrecorded(read));
  const heap = new V8Heap(dump.memory, layout, undefined, texts);
  const virtual = new VirtualMemory(dump.memory);
  const values = new V8Heap(virtual, layout, virtual, texts);
  const scripts = new Scripts(heap);
  const functions = new Functions(values, scripts);
  const binary = readBinaryTables(module, layout);
  const frames = new FrameReader(values, functions, scripts, binary, virtual);
  const wasm = new WasmReader(heap);
  return { module, version, heap, values, texts, scripts, functions, frames, wasm, binary };
}

/** Constants with value zero are in .bss, which has no bytes in the file. */
function readConstants(module: CoreModule): Map<string, number> {
  const values = new Map<string, number>();
  for (const { name, address } of module.code?.exportedWithPrefix(prefix) ?? []) {
    const bytes = module.code?.findBytes(address, 4);
    const value = bytes?.length === 4 ? new DataView(bytes.buffer).getInt32(0, true) : 0;
    values.set(name.slice(prefix.length), value);
  }
  return values;
}

function findVersion(dump: CoreDump, module: CoreModule): V8Version | undefined {
  const [major, minor] = ['6major_E', '6minor_E'].map((name) => {
    const symbol = findSymbol(module, `_ZN2v88internal7Version${name}`);
    const address = symbol && findRuntimeAddress(module, symbol.address);
    return address !== undefined && dump.memory.has(address, 4) ? dump.memory.readInt32(address) : undefined;
  });
  if (major === undefined || minor === undefined || major < 1 || major > 99) return undefined;
  return { major, minor };
}

/** A symbol that is not exported in one version of V8 may be exported in another. */
function findSymbol(module: CoreModule, name: string): ElfSymbol | undefined {
  return module.code?.findNamed(name);
}

/** Tables that only code refers to, so that they must be found by name. */
function readBinaryTables(module: CoreModule, layout: V8Layout): BinaryTables {
  const sizes = findTable(module, '_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE');
  const counts = findTable(
    module,
    '_ZZN2v88internal29TranslationOpcodeOperandCountENS0_17TranslationOpcodeEE6counts',
  );
  const opcodes =
    counts &&
    matchOpcodes(layout.translation, [...new Int32Array(counts.slice().buffer, 0, counts.length >> 2)]);
  return {
    ...(sizes ? { bytecodeSizes: new BytecodeSizes(sizes) } : {}),
    ...(opcodes ? { translationOpcodes: { ...opcodes, hasSignedOpcodes: layout.signedOpcodes } } : {}),
  };
}

function findTable(module: CoreModule, name: string): Uint8Array | undefined {
  const symbol = findSymbol(module, name);
  return symbol && module.code?.findBytes(symbol.address, symbol.size);
}
