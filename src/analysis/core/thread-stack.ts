/**
 * Describes one thread of a core: native and JavaScript frames in one stack, each with how it was found. V8's glue frames
 * (entry, exit, construct) are omitted; its other built-ins are kept.
 */
import type { RegisterFile } from '../../formats/dwarf-cfi/caller.ts';
import type { ElfSymbol } from '../../formats/elf/symbols.ts';
import type { CoreThread } from '../../formats/elf-core/core-contents.ts';
import { isCompiled, runsBytecode } from '../../formats/v8/frames/frame-extent.ts';
import type { JavaScriptFrame } from '../../formats/v8/frames/frames.ts';
import type { Frame, Thread } from '../../model/thread.ts';
import type { Gap } from '../../model/verdict.ts';
import type { CoreDump } from './core-dump.ts';
import { FrameDoubts } from './frame-doubts.ts';
import { doubtDistance } from './javascript/frame-distance.ts';
import { describeJavaScriptFrame } from './javascript/javascript-frame.ts';
import { doubtReceiver } from './javascript/receiver-doubt.ts';
import type { V8Runtime } from './javascript/v8-runtime.ts';
import { doubtSize } from './native/frame-size.ts';
import { builtinName, describeThreadPurpose, findSymbol, readableName } from './native/native-names.ts';
import { type NativeFrame, type NativeStack, walkNativeStack } from './native/native-stack.ts';
import { doubtReturn } from './native/return-address.ts';

/** Of a deep recursion, this many frames are shown at either end. */
const framesAtTop = 200;
const framesAtBottom = 50;
/** Values are read for this many frames from the top. */
const framesWithValues = 48;
const SIGTRAP = 5;
const outsideFile =
  'in a mapping of a file that does not contain it, so the list of mapped files may be damaged';
const signalReturn = '(return from a signal handler)';

export interface ThreadOptions {
  v8: V8Runtime | undefined;
  crashed: boolean;
  /** Read arguments, closures and source lines. */
  values: boolean;
  gaps: Gap[];
  /** Receives those gaps that make the frames themselves less than certain. */
  doubts?: Gap[];
}

export function describeThread(dump: CoreDump, thread: CoreThread, options: ThreadOptions): Thread {
  const isExact = !(options.crashed && thread.signal === SIGTRAP && dump.machine.stopsBehindBreakpoint);
  const registers = dump.machine.registersOf(thread);
  if (!options.crashed && isKernelWorker(registers, dump)) return describeKernelWorker(thread);
  const stack = walkNativeStack(registers, dump, isExact);
  const found: Gap[] = [];
  if (stack.stopped)
    found.push({
      part: `stack of thread ${thread.tid}`,
      reason: `the walk ended early: ${stack.stopped}`,
    });
  const shown = elide(stack, thread.tid, options.gaps);
  const isElided = shown !== stack.frames;
  const doubts = new FrameDoubts();
  const frames: Frame[] = [];
  const names: (string | undefined)[] = [];
  shown.forEach((frame, i) => {
    const callee = isElided && i === framesAtTop ? undefined : shown[i - 1];
    const around = { callee, caller: shown[i + 1] };
    const described = describeFrame(frame, around, i, dump, options, doubts);
    frames.push(...described);
    names.push(described.at(-1)?.function);
  });
  found.push(...doubts.gaps(thread.tid));
  options.gaps.push(...found);
  options.doubts?.push(...found);
  const isMain = dump.core.process?.pid === thread.tid;
  const purpose = isMain ? undefined : describeThreadPurpose(names);
  return {
    id: thread.tid,
    kind: isMain ? 'main' : (purpose?.kind ?? 'native'),
    crashed: options.crashed,
    registers: Object.fromEntries(
      Object.entries(thread.registers).map(([name, value]) => [name, `0x${value.toString(16)}`]),
    ),
    frames,
    ...(isMain ? { name: 'main thread' } : purpose ? { name: purpose.name } : {}),
  };
}

/**
 * The kernel starts the workers of io_uring as threads of the process, with registers of zero because they never return to it
 * (PF_IO_WORKER). Node 20.3 to 20.10 and 21 have some.
 */
const isKernelWorker = (registers: RegisterFile, { machine }: CoreDump): boolean =>
  registers.get(machine.programCounter) === 0n && registers.get(machine.stackPointer) === 0n;

const describeKernelWorker = ({ tid }: CoreThread): Thread => ({
  id: tid,
  kind: 'native',
  name: "the kernel's worker of io_uring",
  crashed: false,
  frames: [],
});

function elide({ frames, dropped }: NativeStack, tid: number, gaps: Gap[]): NativeFrame[] {
  const most = framesAtTop + framesAtBottom;
  if (frames.length <= most) return frames;
  gaps.push({
    part: `stack of thread ${tid}`,
    reason: `${frames.length + dropped - most} frames between the first ${framesAtTop} and the last ${framesAtBottom} are left out`,
  });
  return [...frames.slice(0, framesAtTop), ...frames.slice(-framesAtBottom)];
}

function describeFrame(
  frame: NativeFrame,
  { callee, caller }: { callee: NativeFrame | undefined; caller: NativeFrame | undefined },
  index: number,
  dump: CoreDump,
  options: ThreadOptions,
  doubts: FrameDoubts,
): Frame[] {
  const symbol = findSymbol(frame);
  const builtin = builtinName(symbol) ?? (isUnnamedBuiltin(frame, symbol, options.v8) ? '' : undefined);
  if (frame.isSignalReturn) return [describeNative(frame, symbol ? readableName(symbol) : signalReturn)];
  // The code that a deoptimisation returns to is only known by its name.
  const misled = index > 0 && builtin !== '' ? doubtReturn(frame, callee, dump) : undefined;
  if (misled && !isKnownReturn(frame, options.v8)) doubts.add(misled);
  // Only of the thread that the verdict is about.
  const missized = index > 0 && options.doubts ? doubtSize(frame, dump.machine) : undefined;
  if (missized) doubts.add(missized);
  if (index > 0 && frame.location?.module.code && frame.location.address === undefined)
    doubts.add(outsideFile);
  const isV8Code = builtin !== undefined || (!frame.location && frame.framePointer !== undefined);
  const misplaced = callee && options.v8 && doubtDistance(frame, builtin, callee, options.v8, dump);
  if (misplaced) doubts.add(misplaced);
  const found = isV8Code ? findJavaScript(frame, builtin, index === 0, options.v8, dump) : undefined;
  if (index > 0 && options.v8 && builtin && runsBytecode.test(builtin) && !isInterpreted(found))
    doubts.add('the interpreter was at work, but its function could not be read');
  else if (index > 0 && options.v8 && builtin && !found && !isMarked(frame, options.v8))
    doubts.add('the function that V8 ran could not be read');
  if (index > 0 && found && !frame.location && isOtherThanCompiled(found, frame, options.v8))
    doubts.add('the function of compiled code could not be read');
  if (found && 'frameType' in found) {
    if (found.frameType === 'WasmFrame') return [describeWasm(frame, options.v8)];
    // The top frame is never omitted, even if a signal or a crash stopped it in the glue itself.
    return index === 0 ? [describeNative(frame, symbol && readableName(symbol))] : [];
  }
  if (!found || !options.v8) {
    if (!symbol && shouldHaveNames(frame, options.v8)) doubts.addNameless(frame);
    if (!symbol && !frame.location && index > 0 && options.v8)
      doubts.add('in code of no file, not as V8 leaves it');
    return [describeNative(frame, symbol && readableName(symbol))];
  }
  // The JavaScript wrapper of an exported function: the frame above is the function itself.
  if (index > 0 && found.every(isWasmEntry)) return [];
  for (const { problem, doubt, function: f } of found) {
    if (f.doubt) doubts.add(f.doubt);
    if (problem) doubts.add(`no line: ${problem}`);
    if (doubt) doubts.add(doubt);
  }
  for (const { receiver, function: f } of found) {
    const misread = receiver && doubtReceiver(options.v8.values, options.v8.functions, receiver, !f.name);
    if (misread) doubts.add(misread);
  }
  const isConstructing =
    caller !== undefined && options.v8 !== undefined && isConstructFrame(caller, options.v8);
  const { v8 } = options;
  const withValues = options.values && index < framesWithValues;
  if (withValues && found.some((part) => part.hasDoubtfulValues)) doubt(options.gaps);
  return found.map((part, i) =>
    describeJavaScriptFrame(v8, part, {
      values: withValues,
      isConstructing: isConstructing && i === found.length - 1,
      trust: frame.trust,
      address: frame.programCounter,
      builtin,
    }),
  );
}

/** Code that V8 compiled for a function of a script has a frame of that function. */
const isOtherThanCompiled = (
  found: JavaScriptFrame[] | { frameType: string },
  { programCounter }: NativeFrame,
  v8: V8Runtime | undefined,
): boolean =>
  Array.isArray(found)
    ? !found.at(-1)?.function.script
    : !found.frameType.startsWith('Wasm') && v8 !== undefined && isCompiled(v8.heap, programCounter);

/** Numbers in the slot of the context, below this, name the kind of a frame that has none. */
const markers = 256;

function isMarked({ framePointer }: NativeFrame, { heap }: V8Runtime): boolean {
  if (framePointer === undefined) return true;
  const word = heap.memory.findWord(framePointer + heap.layout.frame.context);
  return word !== undefined && word % 2 === 0 && word < markers;
}

const isWasmEntry = ({ tier, function: f }: JavaScriptFrame) =>
  tier === 'builtin' && f.script?.name.startsWith('wasm://') === true;

function describeWasm(frame: NativeFrame, v8: V8Runtime | undefined): Frame {
  const { framePointer = 0, lookupAddress } = frame;
  const found = v8?.wasm.find(framePointer, lookupAddress);
  const described = {
    ...describeNative(frame),
    tier: 'wasm',
    function: found?.name ?? 'WebAssembly function',
  };
  return found?.file ? { ...described, file: found.file } : described;
}

const isInterpreted = (found: JavaScriptFrame[] | { frameType: string } | undefined): boolean =>
  Array.isArray(found) && found.some(({ function: f }) => f.script !== undefined);

/** V8's own code in a stripped executable: it has no name there, and never an entry in the unwind tables. */
function isUnnamedBuiltin(
  { location, framePointer }: NativeFrame,
  symbol: ElfSymbol | undefined,
  v8: V8Runtime | undefined,
): boolean {
  if (symbol || !location || location.address === undefined || framePointer === undefined) return false;
  return location.module === v8?.module && !location.module.code?.findFrame(location.address);
}

/** System libraries don't export the names of internal functions; Node and its addons should have them. */
function shouldHaveNames({ location }: NativeFrame, v8: V8Runtime | undefined): boolean {
  const module = location?.module;
  return module !== undefined && (!module.code || module === v8?.module || module.path.endsWith('.node'));
}

/** A call whose code was marked for deoptimisation returns to where that begins, as V8's table of the code says. */
const isKnownReturn = ({ programCounter, location }: NativeFrame, v8: V8Runtime | undefined): boolean =>
  !location && v8?.frames.isReturn(programCounter) === true;

const doubtfulValues: Gap = {
  part: 'values of optimised frames',
  reason: 'some were not where the compiled code says that they are: they are left out',
};

function doubt(gaps: Gap[]): void {
  if (!gaps.includes(doubtfulValues)) gaps.push(doubtfulValues);
}

function findJavaScript(
  frame: NativeFrame,
  builtin: string | undefined,
  isTop: boolean,
  v8: V8Runtime | undefined,
  dump: CoreDump,
): JavaScriptFrame[] | { frameType: string } | undefined {
  if (!v8 || frame.framePointer === undefined) return undefined;
  // Optimised code that has no frame yet, or foreign native code.
  if (builtin === undefined && !dump.memory.has(frame.framePointer - 16, 16)) return undefined;
  const offset = isTop ? frame.registers.get(dump.machine.interpreterOffset) : undefined;
  return v8.frames.find({
    programCounter: frame.programCounter,
    framePointer: frame.framePointer,
    isTop,
    ...(builtin === undefined ? {} : { builtin }),
    ...(offset === undefined ? {} : { interpreterOffset: Number(offset) }),
  });
}

/** `new` puts its own frame between caller and constructor. */
function isConstructFrame(frame: NativeFrame, v8: V8Runtime): boolean {
  if (frame.framePointer === undefined) return false;
  const marker = v8.heap.memory.findWord(frame.framePointer + v8.heap.layout.frame.context);
  const type = marker === undefined ? undefined : v8.heap.layout.frameTypes.get(marker / 2);
  return type === 'ConstructFrame' || type === 'FastConstructFrame';
}

function describeNative(frame: NativeFrame, name?: string): Frame {
  return {
    inApp: frame.location?.module.path.endsWith('.node') ?? false,
    trust: frame.trust,
    address: `0x${frame.programCounter.toString(16)}`,
    ...(name ? { function: name } : {}),
    ...(frame.location ? { module: frame.location.module.path } : {}),
  };
}
