/**
 * What stopped the process: signal, code, address and kind of access, and a description. From the kernel's note or, if that
 * was overwritten, from the signal frame of the handler that ran before. Reads no symbols.
 */
import { basename } from 'node:path';
import type { MemoryReader } from '../../../bytes/memory.ts';
import type { CoreFile, CoreThread } from '../../../formats/elf-core/core-contents.ts';
import { faultCodes, generalCodes, signalNames } from '../../../formats/elf-core/layout.ts';
import type { Machine } from '../native/machine.ts';
import { type DeadFault, findDeadFault } from './dead-frame.ts';
import { describeCause } from './fault-cause.ts';
import type { Fault, FaultFacts } from './fault-facts.ts';
import { nameSystemCall } from './system-calls.ts';

const SIGTRAP = 5;
const SIGSEGV = 11;
const instructionBytes = 15;

/** `thread`: the one that died. Undefined for a core of a process that was not dying. */
export function describeFault(
  core: CoreFile,
  thread: CoreThread,
  memory: MemoryReader,
  { stopsBehindBreakpoint }: Pick<Machine, 'stopsBehindBreakpoint'>,
): Fault | undefined {
  const signal = core.signal?.number || thread.signal;
  if (!signal || signal === 19) return undefined;
  const { programCounter: pc, stackPointer } = thread;
  const frame = signal === SIGSEGV ? findDeadFault(core, thread, memory) : undefined;
  const known = factsOf(core, signal, frame, BigInt(pc));
  const at = signal === SIGTRAP && stopsBehindBreakpoint ? pc - 1 : pc;
  const instruction = memory.has(at, 1) ? readInstruction(memory, at) : undefined;
  const { address } = known;
  const mapped =
    address === undefined ? undefined : core.files.find((f) => address >= f.start && address < f.end);
  const facts: FaultFacts = {
    ...(mapped ? { mappedFile: basename(mapped.path) } : {}),
    ...known,
    signal,
    ...(core.process ? { pid: core.process.pid } : {}),
    ...(core.signal?.systemCall === undefined
      ? {}
      : { systemCall: nameSystemCall(core.signal.systemCall, core.machine) }),
    pc,
    sp: stackPointer,
    ...(instruction ? { instruction } : {}),
    find: (address) => core.segments.find((s) => address >= s.start && address < s.end),
  };
  const { kind, description } = describeCause(facts);
  return {
    kind,
    description,
    signal,
    signalName: signalNames[signal] ?? `signal ${signal}`,
    evidence: known.evidence,
    ...(known.code ? { code: known.code } : {}),
    ...(known.address === undefined ? {} : { address: known.address }),
    ...(known.access ? { access: known.access } : {}),
    ...(known.sender ? { sender: known.sender } : {}),
    ...(instruction ? { instruction } : {}),
  };
}

type Known = Pick<FaultFacts, 'code' | 'address' | 'access' | 'sender' | 'evidence'>;

function factsOf(core: CoreFile, signal: number, frame: DeadFault | undefined, pc: bigint): Known {
  if (frame) return { ...frame, evidence: 'signal-frame' };
  const note = core.signal;
  if (!note) return { evidence: 'registers' };
  const code = faultCodes[signal]?.[note.code];
  if (!code)
    return {
      code: generalCodes[note.code] ?? `${note.code}`,
      ...(note.sender ? { sender: note.sender } : {}),
      evidence: 'kernel-note',
    };
  return {
    code,
    address: note.address,
    evidence: 'kernel-note',
    ...(signal === SIGSEGV && note.address === pc ? { access: 'execute' as const } : {}),
  };
}

function readInstruction(memory: MemoryReader, pc: number): Uint8Array {
  let length = instructionBytes;
  while (!memory.has(pc, length)) length--;
  return memory.readBytes(pc, length);
}
