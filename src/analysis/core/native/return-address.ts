/**
 * Checks a return address against the instruction before it: that must be a call, and if it names its target, that must be the
 * function of the frame above, or lead there by jumps (a tail call, an entry of the procedure linkage table, the cold part of a
 * function). A damaged stack often shows an address that is behind a call, but behind that of another function.
 */
import type { CoreDump } from '../core-dump.ts';
import { type CoreModule, findRuntimeAddress } from './module-map.ts';
import { builtinName, findSymbol } from './native-names.ts';
import type { NativeFrame } from './native-stack.ts';

export const noCall = 'no call stands before the return address, so the stack may be damaged there';
export const otherCall =
  'the call before the return address is of another function, so the stack may be damaged there';

/** An address as linked, so that copies of the same code (V8 maps its built-ins twice) are equal. */
interface Place {
  module: CoreModule;
  address: number;
}

interface Range {
  module: CoreModule;
  start: number;
  /** Exclusive. */
  end: number;
}

/** A function that is called jumps to another at most this often before it is that of the frame. */
const maxJumps = 64;
/** The jumps of longer functions are not searched. */
const longestSearched = 64 << 10;

/**
 * Where V8's deoptimizer lets the frames that it makes return to, which is not behind a call. Source: Deoptimizer of V8.
 * An interpreted frame and the continuation of a built-in begin at a built-in's start.
 */
const startedByDeoptimizer =
  /^(?:(?:BaselineOr)?InterpreterEnterAt(?:Next)?Bytecode|ContinueTo(?:CodeStub|JavaScript)Builtin(?:WithResult)?)$/;
/**
 * A `new` goes on where FastNewObject or the constructor would have returned to: executables up to Node 23 name the places.
 * In later ones it is, in each of these two built-ins, where the first jump behind a call leads, or (x86-64) another jump to that place.
 */
const constructStubs = ['JSConstructStubGeneric', 'InterpreterPushArgsThenFastConstructFunction'];
const constructPlaces = ['construct_stub_create_deopt_addr', 'construct_stub_invoke_deopt_addr'];

/** Undefined if nothing is wrong, or the code is not available. `callee`: the next inner frame, if that is known. */
export function doubtReturn(
  frame: NativeFrame,
  callee: NativeFrame | undefined,
  dump: CoreDump,
): string | undefined {
  const { programCounter, lookupAddress, location } = frame;
  // What a signal handler returns to is no return address.
  if (programCounter === lookupAddress) return undefined;
  const linked = location?.address === undefined ? undefined : location.address + 1;
  const doubt = doubtCall(frame, linked, callee, dump);
  return doubt && linked !== undefined && isOfDeoptimizer(frame, linked, dump) ? undefined : doubt;
}

function doubtCall(
  frame: NativeFrame,
  linked: number | undefined,
  callee: NativeFrame | undefined,
  dump: CoreDump,
): string | undefined {
  const { programCounter, location } = frame;
  const code = findCodeBefore(frame, dump);
  if (!code) return undefined;
  const { machine, modules } = dump;
  if (!machine.endsInCall(code)) return noCall;
  const target = machine.findTarget(code, linked ?? programCounter);
  if (target === undefined || !callee) return undefined;
  const called =
    location && linked !== undefined
      ? { module: location.module, address: target }
      : placeOf(target, modules);
  const ranges = rangesOf(callee);
  const isUnknown = !called || (callee.location !== undefined && ranges.length === 0);
  return isUnknown || leadsTo(called, ranges, dump) ? undefined : otherCall;
}

function isOfDeoptimizer(frame: NativeFrame, linked: number, { machine }: CoreDump): boolean {
  const symbol = findSymbol(frame);
  const name = builtinName(symbol);
  if (!symbol || name === undefined) return false;
  if (symbol.address === linked) return startedByDeoptimizer.test(name);
  if (!constructStubs.includes(name)) return false;
  const module = frame.location?.module.code;
  const named = constructPlaces.map((place) => module?.findNamed(place)?.address);
  if (named.some((place) => place !== undefined)) return named.includes(linked);
  const code = module?.findBytes(symbol.address, symbol.size);
  const place = code && machine.findJumpBehindCall(code, symbol.address);
  if (!code || place === undefined) return false;
  return linked === place || machine.findJump(code.subarray(linked - symbol.address), linked) === place;
}

function findCodeBefore(
  { programCounter, location }: NativeFrame,
  { machine, memory }: CoreDump,
): Uint8Array | undefined {
  const length = machine.longestCall;
  const address = location?.address;
  if (address !== undefined) return location?.module.code?.findBytes(address + 1 - length, length);
  return memory.has(programCounter - length, length)
    ? memory.readBytes(programCounter - length, length)
    : undefined;
}

function placeOf(address: number, modules: CoreDump['modules']): Place | undefined {
  const location = modules.find(address);
  return location?.address === undefined ? undefined : { module: location.module, address: location.address };
}

/** The function of a frame, by its symbol and by its unwinding table; empty for code of no file. */
function rangesOf(frame: NativeFrame): Range[] {
  const { module, address } = frame.location ?? {};
  if (!module?.code || address === undefined) return [];
  const symbol = findSymbol(frame);
  const described = module.code.findFrame(address);
  return [
    ...(symbol ? [{ module, start: symbol.address, end: symbol.address + Math.max(1, symbol.size) }] : []),
    ...(described ? [{ module, start: described.start, end: described.end }] : []),
  ];
}

/** Whether a call of `called` can be in one of the ranges without another call. True where that can't be known. */
function leadsTo(called: Place, ranges: readonly Range[], dump: CoreDump): boolean {
  const isInside = ({ module, address }: Place) =>
    ranges.some((r) => r.module === module && address >= r.start && address < r.end);
  const seen = new Set<string>();
  const open = [called];
  if (findEnd(called) === undefined) return true;
  for (let place = open.pop(); place; place = open.pop()) {
    const key = `${place.module.path} ${place.address}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (isInside(place)) return true;
    if (seen.size > maxJumps) return true;
    const jumps = findJumps(place, dump);
    if (!jumps) return true;
    // Code without a symbol's size and without tables is only known as the frame's own.
    open.push(...jumps.filter((target) => isInside(target) || findEnd(target) !== undefined));
  }
  return false;
}

/** Where the function at this address may jump; undefined if that is not known. */
function findJumps({ module, address }: Place, { machine, memory, modules }: CoreDump): Place[] | undefined {
  const { code } = module;
  if (!code) return undefined;
  const linkage = code.findBytes(address, machine.linkageEntry);
  const slot = linkage && machine.findLinkageSlot(linkage, address);
  if (slot !== undefined) {
    const at = findRuntimeAddress(module, slot);
    const word = at === undefined ? undefined : memory.findWord(at);
    const resolved = word === undefined ? undefined : placeOf(word, modules);
    // Not resolved yet: the linker itself runs.
    return resolved && resolved.module !== module ? [resolved] : undefined;
  }
  const end = findEnd({ module, address });
  if (end === undefined || end - address > longestSearched) return undefined;
  const bytes = code.findBytes(address, end - address);
  const targets = bytes && machine.findJumps(bytes, address);
  return targets
    ?.filter((target) => target < address || target >= end)
    .map((target) => ({ module, address: target }));
}

/** The end of the function at this address. */
function findEnd({ module: { code }, address }: Place): number | undefined {
  const symbol = code?.findFunction(address);
  if (symbol && symbol.size > 0 && address >= symbol.address && address < symbol.address + symbol.size)
    return symbol.address + symbol.size;
  return code?.findFrame(address)?.end;
}
