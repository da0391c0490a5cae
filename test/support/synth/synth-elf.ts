/** Builds ELF objects and Linux cores of x86-64 and arm64. Restates the layouts on purpose, and imports nothing. */

export interface SynthSegment {
  type: number;
  flags?: number;
  address?: number;
  bytes?: Uint8Array;
  memorySize?: number;
  align?: number;
}

export interface SynthElf {
  type: number;
  machine?: number;
  segments: SynthSegment[];
}

/** The header, the segment table, then the bytes of each segment, aligned to 16. */
export function synthElf({ type, machine = 62, segments }: SynthElf): Buffer {
  const head = Buffer.alloc(64);
  head.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  head.writeUInt16LE(type, 16);
  head.writeUInt16LE(machine, 18);
  head.writeUInt32LE(1, 20);
  head.writeBigUInt64LE(64n, 32);
  head.writeUInt16LE(64, 52);
  head.writeUInt16LE(56, 54);
  head.writeUInt16LE(segments.length, 56);
  const table = Buffer.alloc(56 * segments.length);
  const bodies: Buffer[] = [];
  let offset = 64 + table.length;
  segments.forEach((segment, i) => {
    const bytes = Buffer.from(segment.bytes ?? []);
    const padding = Buffer.alloc((16 - (offset % 16)) % 16);
    offset += padding.length;
    table.writeUInt32LE(segment.type, i * 56);
    table.writeUInt32LE(segment.flags ?? 6, i * 56 + 4);
    table.writeBigUInt64LE(BigInt(offset), i * 56 + 8);
    table.writeBigUInt64LE(BigInt(segment.address ?? 0), i * 56 + 16);
    table.writeBigUInt64LE(BigInt(bytes.length), i * 56 + 32);
    table.writeBigUInt64LE(BigInt(segment.memorySize ?? bytes.length), i * 56 + 40);
    table.writeBigUInt64LE(BigInt(segment.align ?? 16), i * 56 + 48);
    bodies.push(padding, bytes);
    offset += bytes.length;
  });
  return Buffer.concat([head, table, ...bodies]);
}

export function synthNote(owner: string, type: number, bytes: Uint8Array): Buffer {
  const pad = (b: Uint8Array) => Buffer.concat([b, Buffer.alloc((4 - (b.length % 4)) % 4)]);
  const head = Buffer.alloc(12);
  const name = Buffer.from(`${owner}\0`);
  head.writeUInt32LE(name.length, 0);
  head.writeUInt32LE(bytes.length, 4);
  head.writeUInt32LE(type, 8);
  return Buffer.concat([head, pad(name), pad(bytes)]);
}

const registerOrder =
  'r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs';

/** NT_PRSTATUS of a thread. */
export function synthThread(tid: number, signal: number, registers: Record<string, number>): Buffer {
  const bytes = Buffer.alloc(336);
  bytes.writeUInt16LE(signal, 12);
  bytes.writeUInt32LE(tid, 32);
  registerOrder.split(' ').forEach((name, i) => {
    bytes.writeBigUInt64LE(BigInt(registers[name] ?? 0), 112 + i * 8);
  });
  return synthNote('CORE', 1, bytes);
}

/** NT_PRSTATUS of an arm64 thread: `registers` has x0 to x30, sp, pc, pstate. */
export function synthArm64Thread(tid: number, signal: number, registers: Record<string, number>): Buffer {
  const bytes = Buffer.alloc(392);
  bytes.writeUInt16LE(signal, 12);
  bytes.writeUInt32LE(tid, 32);
  for (let i = 0; i < 31; i++) bytes.writeBigUInt64LE(BigInt(registers[`x${i}`] ?? 0), 112 + i * 8);
  ['sp', 'pc', 'pstate'].forEach((name, i) => {
    bytes.writeBigUInt64LE(BigInt(registers[name] ?? 0), 112 + (31 + i) * 8);
  });
  return synthNote('CORE', 1, bytes);
}

/** NT_SIGINFO. */
export function synthSignal(number: number, code: number, address: number): Buffer {
  const bytes = Buffer.alloc(128);
  bytes.writeInt32LE(number, 0);
  bytes.writeInt32LE(code, 8);
  bytes.writeBigUInt64LE(BigInt(address), 16);
  return synthNote('CORE', 0x53494749, bytes);
}

/** NT_PRPSINFO. */
export function synthProcess(pid: number, program: string, args: string): Buffer {
  const bytes = Buffer.alloc(136);
  bytes.writeUInt32LE(1000, 16);
  bytes.writeUInt32LE(pid, 24);
  bytes.writeUInt32LE(1, 28);
  bytes.write(program, 40);
  bytes.write(args, 56);
  return synthNote('CORE', 3, bytes);
}

/** NT_FILE; offsets in bytes. `count` overrides the true number of files. */
export function synthFiles(
  files: { start: number; end: number; offset: number; path: string }[],
  count = files.length,
): Buffer {
  const table = Buffer.alloc(16 + files.length * 24);
  table.writeBigUInt64LE(BigInt(count), 0);
  table.writeBigUInt64LE(4096n, 8);
  files.forEach((file, i) => {
    table.writeBigUInt64LE(BigInt(file.start), 16 + i * 24);
    table.writeBigUInt64LE(BigInt(file.end), 24 + i * 24);
    table.writeBigUInt64LE(BigInt(file.offset / 4096), 32 + i * 24);
  });
  const names = files.map((file) => `${file.path}\0`).join('');
  return synthNote('CORE', 0x46494c45, Buffer.concat([table, Buffer.from(names)]));
}

export interface SynthMemory {
  address: number;
  bytes: Uint8Array;
  memorySize?: number;
  flags?: number;
}

/** A core with these notes and pieces of memory. */
export function synthCore(notes: Uint8Array[], memory: SynthMemory[], machine = 62): Buffer {
  return synthElf({
    type: 4,
    machine,
    segments: [
      { type: 4, bytes: Buffer.concat(notes), align: 4 },
      ...memory.map((piece) => ({ type: 1, ...piece })),
    ],
  });
}
