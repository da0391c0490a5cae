/**
 * The kernel's notes: one status per thread, and once per core the process, the signal, the auxiliary vector and the mapped
 * files.
 */
import { ByteCursor } from '../../bytes/cursor.ts';
import { MalformedInput } from '../../errors.ts';
import type { CoreFile, CoreThread, MappedFile } from './core-contents.ts';
import * as note from './layout.ts';

const format = 'elf-core';

/** Adds the contents of the notes to `core`; an invalid note is added to the core's problems. */
export function readCoreNotes(core: CoreFile, bytes: Uint8Array): void {
  const cursor = new ByteCursor(bytes, format);
  while (cursor.remaining >= 12) {
    const nameSize = cursor.u32('n_namesz');
    const descSize = cursor.u32('n_descsz');
    const type = cursor.u32('n_type');
    const desc = cursor.position + align4(nameSize);
    if (desc + descSize > bytes.length) {
      core.problems.push(`a note of type ${type} wants ${descSize} bytes, beyond the end of the notes`);
      return;
    }
    const owner = Buffer.from(bytes.subarray(cursor.position, desc)).toString('latin1').replace(/\0.*$/s, '');
    if (owner === 'CORE') readNote(core, type, bytes.subarray(desc, desc + descSize));
    else if (owner === note.ARCH_NOTE && type === note.NT_ARM_PAC_MASK)
      readNote(core, type, bytes.subarray(desc, desc + descSize));
    else if (owner === note.OWN_NOTE) core.own.set(type, bytes.subarray(desc, desc + descSize));
    cursor.position = Math.min(bytes.length, desc + align4(descSize));
  }
}

/** The notes without those that a mini core added. */
export function withoutOwnNotes(bytes: Uint8Array): Buffer {
  return keepNotes(bytes, (owner) => owner !== note.OWN_NOTE);
}

/**
 * The notes without registers that are not needed to walk a stack. Vector registers contain fragments of recently copied
 * text, sixteen to sixty-four characters each, out of order.
 */
export function withoutVectorRegisters(bytes: Uint8Array): Buffer {
  return keepNotes(bytes, (owner, type) => {
    const isFloats = owner === 'CORE' && type === note.NT_FPREGSET;
    return (owner !== note.ARCH_NOTE || type === note.NT_ARM_PAC_MASK) && !isFloats;
  });
}

function keepNotes(bytes: Uint8Array, isKept: (owner: string, type: number) => boolean): Buffer {
  const kept: Uint8Array[] = [];
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at + 12 <= view.length; ) {
    const nameSize = view.readUInt32LE(at);
    const end = Math.min(view.length, at + 12 + align4(nameSize) + align4(view.readUInt32LE(at + 4)));
    const owner = view.toString('latin1', at + 12, Math.min(end, at + 12 + nameSize)).replace(/\0.*$/s, '');
    if (isKept(owner, view.readUInt32LE(at + 8))) kept.push(view.subarray(at, end));
    at = end;
  }
  return Buffer.concat(kept);
}

function readNote(core: CoreFile, type: number, bytes: Uint8Array): void {
  const cursor = new ByteCursor(bytes, format);
  try {
    if (type === note.NT_PRSTATUS) core.threads.push(readThread(cursor, core.machine));
    else if (type === note.NT_ARM_PAC_MASK) core.signatureBits = readSignatureBits(cursor);
    else if (type === note.NT_PRPSINFO) core.process = readProcess(cursor);
    else if (type === note.NT_SIGINFO) core.signal = readSignal(cursor);
    else if (type === note.NT_AUXV) readAuxiliary(core, cursor);
    else if (type === note.NT_FILE) core.files.push(...readFiles(cursor));
  } catch (error) {
    if (!(error instanceof MalformedInput)) throw error;
    core.problems.push(error.message);
  }
}

function readThread(cursor: ByteCursor, machine: note.CoreMachine): CoreThread {
  cursor.position = note.PR_CURSIG;
  const signal = cursor.u16('pr_cursig');
  cursor.position = note.PR_PID;
  const tid = cursor.u32('pr_pid');
  cursor.position = note.PR_REG;
  const { registers: names, programCounter, stackPointer } = note.machines[machine];
  const registers: CoreThread['registers'] = {};
  for (const name of names) registers[name] = cursor.u64('pr_reg');
  return {
    tid,
    signal,
    registers,
    programCounter: Number(registers[programCounter]),
    stackPointer: Number(registers[stackPointer]),
  };
}

/** Masks for data, then for code; identical for all threads. */
function readSignatureBits(cursor: ByteCursor): bigint {
  cursor.u64('data_mask');
  return cursor.u64('insn_mask');
}

function readProcess(cursor: ByteCursor): NonNullable<CoreFile['process']> {
  cursor.position = note.PR_UID;
  const uid = cursor.u32('pr_uid');
  cursor.position = note.PR_PSINFO_PID;
  const pid = cursor.u32('pr_pid');
  const parentPid = cursor.u32('pr_ppid');
  cursor.position = note.PR_FNAME;
  const program = text(cursor.take(16, 'pr_fname'));
  return { pid, parentPid, uid, program, arguments: text(cursor.take(80, 'pr_psargs')) };
}

function readSignal(cursor: ByteCursor): NonNullable<CoreFile['signal']> {
  const number = cursor.u32('si_signo');
  cursor.position = note.SI_CODE;
  const code = cursor.i32('si_code');
  cursor.position = note.SI_ADDR;
  const address = cursor.u64('si_addr');
  if (number === note.SIGSYS && code === note.SYS_SECCOMP) {
    cursor.position = note.SI_SYSCALL;
    return { number, code, address, systemCall: cursor.u32('si_syscall') };
  }
  if (!note.senderCodes.includes(code)) return { number, code, address };
  cursor.position = note.SI_PID;
  const pid = cursor.u32('si_pid');
  // The writer of the note may not have known the pid, if the thread raised the signal itself.
  if (pid === 0 && code !== note.SI_USER) return { number, code, address };
  return { number, code, address, sender: { pid, uid: cursor.u32('si_uid') } };
}

function readAuxiliary(core: CoreFile, cursor: ByteCursor): void {
  while (cursor.remaining >= 16) core.auxiliary.set(Number(cursor.u64('a_type')), cursor.u64('a_val'));
}

/** Count, page size, `count` triples (start, end, offset in pages), then `count` names. */
function readFiles(cursor: ByteCursor): MappedFile[] {
  const count = cursor.size64('NT_FILE count');
  const pageSize = cursor.size64('NT_FILE page size');
  if (count * 24 > cursor.remaining)
    throw cursor.error(
      'NT_FILE count',
      0,
      `${count} entries`,
      `room for ${Math.floor(cursor.remaining / 24)}`,
    );
  const files: MappedFile[] = [];
  for (let i = 0; i < count; i++) {
    const start = cursor.size64('NT_FILE start');
    const end = cursor.size64('NT_FILE end');
    files.push({ start, end, fileOffset: cursor.size64('NT_FILE offset') * pageSize, path: '' });
  }
  for (const file of files)
    file.path = Buffer.from(cursor.cString('NT_FILE name'), 'latin1').toString('utf8');
  return files.filter((f) => f.end > f.start);
}

function text(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return Buffer.from(end < 0 ? bytes : bytes.subarray(0, end))
    .toString('utf8')
    .trimEnd();
}

const align4 = (n: number) => Math.ceil(n / 4) * 4;
