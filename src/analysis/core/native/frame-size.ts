/**
 * Follows the instructions of functions for the size of their frames: where no table gives it, and where the tables give it by the
 * frame pointer, which the callee saved and which may be damaged. Such a frame looks like any other: it may be that of a later
 * function, so that frames are missing between the two.
 */
import { MalformedInput } from '../../../errors.ts';
import type { FrameDescription } from '../../../formats/dwarf-cfi/eh-frame.ts';
import { computeFrameRow, type FrameRow } from '../../../formats/dwarf-cfi/frame-row.ts';
import { findFileOffset } from '../../../formats/elf/elf-file.ts';
import type { Machine } from './machine.ts';
import type { ModuleCode } from './module-code.ts';
import type { Location } from './module-map.ts';
import type { StackUse } from './x64-stack-use.ts';

export const otherSizeOfCode =
  'it has not the size that its instructions give it, so that frames may be missing there';

/** What is needed of a frame. */
interface Place {
  programCounter: number;
  stackPointer: number;
  framePointer: number | undefined;
  lookupAddress: number;
  location: Location | undefined;
}

/** Longer functions are not followed. */
const longestFollowed = 32 << 10;
const pageBytes = 4096;

/** Undefined if nothing is wrong, or if it is not known. */
export function doubtSize(frame: Place, machine: Machine): string | undefined {
  const { location, framePointer, stackPointer, programCounter, lookupAddress } = frame;
  const code = location?.module.code;
  const isReturn = programCounter !== lookupAddress;
  if (!machine.findUses || !isReturn || !code || location.address === undefined || framePointer === undefined)
    return undefined;
  const description = code.findFrame(location.address);
  if (!description || description.end - description.start > longestFollowed) return undefined;
  const { start, end } = description;
  // A part of a function that lies elsewhere begins in the middle of it.
  if (depthBelow(machine.stackPointer, rowAt(description, start)) !== machine.entryDepth) return undefined;
  const depth = depthBelow(machine.framePointer, rowAt(description, location.address));
  const bytes = depth === undefined ? undefined : peekBytes(code, start, end - start);
  const uses = bytes && machine.findUses(bytes, location.address + 1 - start, isReturn, depth);
  if (!uses || uses.some((use) => stackPointer + use.bytes === framePointer + (depth ?? 0))) return undefined;
  // A mini core must contain what shows it.
  code.findBytes(start, end - start);
  return otherSizeOfCode;
}

/** Of the file itself, which is not recorded for a mini core. */
function peekBytes(code: ModuleCode, address: number, length: number): Uint8Array | undefined {
  const offset = code.source && findFileOffset(code, address);
  if (!code.source || offset === undefined) return code.findBytes(address, length);
  const bytes = new Uint8Array(length);
  return bytes.subarray(0, code.source.readInto(bytes, offset));
}

function rowAt(description: FrameDescription, address: number): FrameRow | undefined {
  try {
    return computeFrameRow(description, address);
  } catch (error) {
    if (error instanceof MalformedInput) return undefined;
    throw error;
  }
}

/** How far behind the register's value the frame ends, if the tables say it by that register. */
const depthBelow = (register: number, row: FrameRow | undefined): number | undefined =>
  row?.cfa.kind === 'register' && row.cfa.register === register ? Number(row.cfa.offset) : undefined;

/** The possible uses of the stack at a frame's program counter, in code that no table describes. */
export function findUses({ location, programCounter, lookupAddress }: Place, machine: Machine): StackUse[] {
  const { module, address } = location ?? {};
  if (!module?.code || address === undefined) return [];
  const isReturn = programCounter !== lookupAddress;
  const at = isReturn ? address + 1 : address;
  const symbol = module.code.findFunction(address);
  if (symbol && symbol.size <= longestFollowed && address < symbol.address + symbol.size) {
    const bytes = module.code.findBytes(symbol.address, symbol.size);
    const uses = bytes && machine.findUses?.(bytes, at - symbol.address, isReturn);
    if (uses) return uses;
  }
  const start = at - (at % pageBytes);
  const around = module.code.findBytes(start, 2 * pageBytes) ?? module.code.findBytes(start, pageBytes);
  return (around && machine.findUsesToReturn?.(around, at - start)) ?? [];
}
