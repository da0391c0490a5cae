/**
 * How much of the stack an x86-64 function uses at one of its instructions, found by following its instructions: for code without
 * unwinding tables, and to check frames of which the tables give the size only by the frame pointer. Knows no values, so that a
 * function that reserves a computed number of bytes has no answer.
 */
import { decodeInstruction, type Instruction, rbp } from './x64-instruction.ts';

export interface StackUse {
  /** From the stack pointer to behind the return address. */
  bytes: number;
  /** The caller's frame pointer is saved this far below the same place; absent if the register still has it. */
  savedFramePointer?: number;
}

interface State {
  at: number;
  /** Bytes that were pushed since the beginning, less those that were popped. */
  depth: number;
  /** The depth at which the frame pointer was pushed, or popped on the way to the end. */
  saved?: number | undefined;
}

interface Walk {
  code: Uint8Array;
  /** Keys of states by address. */
  seen: Map<number, Set<string>>;
  visit(instruction: Instruction, state: State): void;
  /** Where the frame pointer points, if that is known. */
  frameDepth?: number | undefined;
  /** From the middle of a function: what is popped was pushed before. */
  isWayOut: boolean;
}

const wordBytes = 8;
const mostStates = 20_000;
/** Where a loop pushes, a place is reached with ever more depths. */
const mostDepths = 8;

/**
 * The uses with which an instruction is reached from the entry at 0: that at `target`, or if `isReturn`, the call that ends there.
 * `frameDepth`: where the frame pointer points, below the place behind the return address, if the tables say. Undefined if it is
 * not reached, or with a use that is not known.
 */
export function findUses(
  code: Uint8Array,
  target: number,
  isReturn: boolean,
  frameDepth?: number,
): StackUse[] | undefined {
  const uses: StackUse[] = [];
  const leaving = new Map<string, State>();
  const walk: Walk = {
    code,
    seen: new Map(),
    frameDepth,
    isWayOut: false,
    visit: (instruction, state) => {
      const isCall = instruction.flow === 'call';
      const isTarget = isReturn ? isCall && state.at + instruction.length === target : state.at === target;
      if (isTarget) uses.push(useOf(state.depth, state.saved));
      if (isCall || instruction.flow === 'jump-anywhere') leaving.set(keyOf(state), state);
    },
  };
  if (!follow([{ at: 0, depth: wordBytes }], walk)) return undefined;
  if (uses.length === 0 && !follow(unreached(walk, leaving), walk)) return undefined;
  return uses.length > 0 ? uses : undefined;
}

/** What a table of jumps or an exception leads to begins with a use that a jump or a call had. */
function* unreached({ code, seen }: Walk, leaving: ReadonlyMap<string, State>): Generator<State> {
  const states = [...leaving.values()];
  for (let at = 0; at < code.length; at += decodeInstruction(code, at)?.length ?? 1)
    if (!seen.has(at)) for (const { depth, saved } of states) yield { at, depth, saved };
}

/**
 * The uses at `start`, by where the function returns from there. More than one if a call on the way does not return, so that what is
 * behind it belongs to another function.
 */
export function findUsesToReturn(code: Uint8Array, start: number): StackUse[] {
  const uses = new Map<string, StackUse>();
  const visit = ({ flow }: Instruction, state: State) => {
    const bytes = wordBytes - state.depth;
    if (flow === 'return')
      uses.set(keyOf(state), useOf(bytes, state.saved === undefined ? undefined : bytes + state.saved));
  };
  follow([{ at: start, depth: 0 }], { code, seen: new Map(), visit, isWayOut: true });
  return [...uses.values()];
}

const keyOf = ({ depth, saved }: State) => `${depth} ${saved}`;
const useOf = (bytes: number, saved: number | undefined): StackUse =>
  saved === undefined ? { bytes } : { bytes, savedFramePointer: saved };

/** False if the use is not known at some place, or an instruction is not. */
function follow(starts: Iterable<State>, walk: Walk): boolean {
  let states = 0;
  for (const start of starts) {
    const open = [start];
    for (let state = open.pop(); state; state = open.pop()) {
      if (state.at < 0 || state.at >= walk.code.length || !isNew(state, walk)) continue;
      const instruction = decodeInstruction(walk.code, state.at);
      if (!instruction || ++states > mostStates) return false;
      walk.visit(instruction, state);
      const next = apply(instruction, state, walk);
      if (!next || (walk.seen.get(state.at)?.size ?? 0) > mostDepths) return false;
      const end = state.at + instruction.length;
      const { flow, distance = 0 } = instruction;
      if (flow === 'jump' || flow === 'branch') open.push({ ...next, at: end + distance });
      if (flow === 'next' || flow === 'call' || flow === 'branch') open.push({ ...next, at: end });
    }
  }
  return true;
}

function isNew(state: State, { seen }: Walk): boolean {
  const keys = seen.get(state.at) ?? new Set();
  const key = keyOf(state);
  if (keys.has(key)) return false;
  keys.add(key);
  seen.set(state.at, keys);
  return true;
}

/** Undefined if the stack pointer is not known after the instruction. */
function apply({ stack }: Instruction, state: State, { frameDepth, isWayOut }: Walk): State | undefined {
  const { depth, saved } = state;
  switch (stack?.kind) {
    case undefined:
      return state;
    case 'push': {
      const isSaved = stack.register === rbp && saved === undefined && !isWayOut;
      return { ...state, depth: depth + wordBytes, saved: isSaved ? depth + wordBytes : saved };
    }
    case 'pop': {
      const restored = isWayOut ? depth : undefined;
      return { ...state, depth: depth - wordBytes, saved: stack.register === rbp ? restored : saved };
    }
    case 'move':
      return { ...state, depth: depth - stack.by };
    case 'to-frame':
      return frameDepth === undefined ? undefined : { ...state, depth: frameDepth - stack.by };
    case 'leave':
      return frameDepth === undefined
        ? undefined
        : { ...state, depth: frameDepth - wordBytes, saved: undefined };
    case 'unknown':
      return undefined;
  }
}
