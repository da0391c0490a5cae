/**
 * Parses what the crash handler of `@datadog/libdatadog-extras` reports to its receiver: sections of lines. The signal, the
 * thread and the registers are read. Source: the receiver protocol of libdatadog's crashtracker, seen in 0.21.0.
 */
import { join } from 'node:path';
import { toldName } from '../../capture/triggers/hold-natively.ts';
import { type X64Register, x64Registers } from '../../formats/elf-core/layout.ts';
import { readSmallFile } from '../../platform/small-file.ts';
import type { HeldThread } from './held-thread.ts';

/** Large, because the handler also lists all mappings. */
const largestNote = 4 << 20;

/** Undefined as long as there is no valid report of this process. */
export function readHoldNote(folder: string, pid: number): HeldThread | undefined {
  const text = readSmallFile(join(folder, toldName), largestNote);
  return text === undefined ? undefined : parseHoldNote(text, pid);
}

export function parseHoldNote(text: string, pid: number): HeldThread | undefined {
  const signal = readSection(text, 'SIGINFO');
  const process = readSection(text, 'PROCESSINFO');
  const context = readSection(text, 'UCONTEXT');
  const told = context?.['registers'];
  if (!signal || process?.['pid'] !== pid || typeof told !== 'object' || told === null) return undefined;
  const registers: Partial<Record<X64Register, bigint>> = {};
  for (const [name, value] of Object.entries(told))
    if (isRegister(name) && isHex(value)) registers[name] = BigInt(value);
  const { si_signo: number, si_code: code, si_addr: address } = signal;
  if (typeof number !== 'number' || typeof code !== 'number' || registers.rsp === undefined) return undefined;
  const tid = typeof process['tid'] === 'number' ? process['tid'] : pid;
  return { tid, registers, signal: number, code, address: isHex(address) ? BigInt(address) : 0n };
}

function readSection(text: string, name: string): Record<string, unknown> | undefined {
  const [, line] = text.split(`DD_CRASHTRACK_BEGIN_${name}\n`);
  try {
    const value: unknown = JSON.parse(line?.split('\n')[0] ?? '');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const isRegister = (name: string): name is X64Register => (x64Registers as readonly string[]).includes(name);

const isHex = (value: unknown): value is string =>
  typeof value === 'string' && /^0x[0-9a-f]{1,16}$/i.test(value);
