/**
 * Finds the uncaught C++ exception: its type and, for classes derived from std::runtime_error or std::logic_error, whose
 * what() can be read without calling it, its message. Found by the header in front of every exception in flight. Sources:
 * Itanium C++ ABI, exception handling §2.2.1; libstdc++'s unwind-cxx.h, tinfo and cow-stdexcept.cc.
 */
import { type MemoryReader, whereMapped } from '../../../bytes/memory.ts';
import type { CoreThread } from '../../../formats/elf-core/core-contents.ts';
import { demangle } from '../../../formats/mangled-names/demangle.ts';
import { findRuntimeAddress, type ModuleMap } from './module-map.ts';

/** `GNUCC++` and a zero byte, the first word of the unwinder's header. */
const exceptionClass = 0x474e_5543_432b_2b00n;
/** Offsets from the thrown object, in __cxa_refcounted_exception of 64-bit machines. */
const UNWIND_HEADER = -32;
const EXCEPTION_TYPE = -112;
const REFERENCE_COUNT = -128;
/** Offsets in std::type_info and __si_class_type_info. */
const TYPE_NAME = 8;
const BASE_TYPE = 16;
/** A vtable starts two words before the address that objects point to. */
const vtableHead = 16;
const singleBase = '_ZTVN10__cxxabiv120__si_class_type_infoE';
/** Classes whose message is a pointer to characters after the object's first word. */
const withMessage = new Set(['St13runtime_error', 'St11logic_error']);
const MESSAGE = 8;

/** Between the throwing function's frame and abort there are a few hundred words and the unwinder's own buffers. */
const searchedBytes = 32 << 10;
/** One for the throw, and one for each std::exception_ptr. */
const maxReferences = 255;
const maxBases = 16;
const maxText = 4096;

/** `std::runtime_error: no such file`. Undefined if there is no candidate, or more than one. */
export function findCppException(
  { stackPointer }: CoreThread,
  modules: ModuleMap,
  memory: MemoryReader,
): string | undefined {
  const found = new Set<number>();
  const start = Math.ceil(stackPointer / 8) * 8;
  for (let at = start; at < start + searchedBytes; at += 8) {
    const word = memory.findWord(at);
    if (word === undefined) break;
    // The unwinder passes pointers to the header, handlers pointers to the object.
    for (const object of [word, word - UNWIND_HEADER]) if (isInFlight(object, memory)) found.add(object);
  }
  const [object] = found;
  if (object === undefined || found.size > 1) return undefined;
  return whereMapped(() => describe(object, modules, memory));
}

function isInFlight(object: number, memory: MemoryReader): boolean {
  // Only as much as is read: a mini core doesn't have more.
  const header = UNWIND_HEADER + 8 - REFERENCE_COUNT;
  if (object % 16 !== 0 || !memory.has(object + REFERENCE_COUNT, header)) return false;
  if (memory.readBigWord(object + UNWIND_HEADER) !== exceptionClass) return false;
  // After an exception was caught and freed, its header may remain, but the allocator has overwritten the count with a
  // pointer.
  const count = memory.readUint32(object + REFERENCE_COUNT);
  return count > 0 && count <= maxReferences;
}

function describe(object: number, modules: ModuleMap, memory: MemoryReader): string | undefined {
  const type = memory.readWord(object + EXCEPTION_TYPE);
  const mangled = readText(memory.readWord(type + TYPE_NAME), memory);
  if (!mangled) return undefined;
  const name = demangle(`_ZTI${mangled.replace(/^\*/, '')}`).replace(/^typeinfo for /, '');
  const message = hasMessage(type, modules, memory)
    ? readText(memory.readWord(object + MESSAGE), memory)
    : undefined;
  return message ? `${name}: ${message}` : name;
}

/** Whether one of its base classes, by single inheritance, stores its message in the object. */
function hasMessage(type: number, modules: ModuleMap, memory: MemoryReader): boolean {
  const tables = tablesOf(modules);
  for (let at = type, i = 0; i < maxBases; i++) {
    const name = readText(memory.readWord(at + TYPE_NAME), memory);
    if (name !== undefined && withMessage.has(name)) return true;
    if (!tables.has(memory.readWord(at))) return false;
    at = memory.readWord(at + BASE_TYPE);
  }
  return false;
}

/** The vtable addresses of single-inheritance type_infos; statically linked libraries have their own. */
function tablesOf({ modules }: ModuleMap): Set<number> {
  return new Set(
    modules.flatMap((module) => {
      const symbol = module.code?.findExported(singleBase);
      const address = symbol?.address ? findRuntimeAddress(module, symbol.address) : undefined;
      return address === undefined ? [] : [address + vtableHead];
    }),
  );
}

function readText(address: number, memory: MemoryReader): string | undefined {
  const bytes: number[] = [];
  for (let i = 0; i < maxText; i++) {
    if (!memory.has(address + i, 1)) return undefined;
    const byte = memory.readUint8(address + i);
    if (byte === 0) break;
    bytes.push(byte);
  }
  return bytes.length > 0 ? Buffer.from(bytes).toString('utf8') : undefined;
}
