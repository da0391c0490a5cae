/**
 * Constants of Linux core files, in the kernel's spelling. Sources: linux/elfcore.h, linux/elf.h (note types),
 * fs/binfmt_elf.c (the writer), arch/x86/include/asm/user_64.h and arch/arm64/include/uapi/asm/ptrace.h (register order),
 * asm-generic/siginfo.h.
 */

export const NT_PRSTATUS = 1;
export const NT_FPREGSET = 2;
export const NT_PRPSINFO = 3;
export const NT_AUXV = 6;
export const NT_SIGINFO = 0x53494749;
export const NT_FILE = 0x46494c45;

/** Owner of the kernel's notes for a single architecture: NT_X86_XSTATE and similar. */
export const ARCH_NOTE = 'LINUX';
/** struct user_pac_mask: the bits of a data and of a code address that contain a signature. */
export const NT_ARM_PAC_MASK = 0x406;
/** Owner of notes that only agentdump writes and reads; other tools ignore them. */
export const OWN_NOTE = 'agentdump';
/** JSON, UTF-8: results of a walk over the whole heap. */
export const OWN_HEAP_SURVEY = 1;
export const OWN_MODULE_RECORDS = 2;
/** JSON: the mapped files of a core that had no NT_FILE. */
export const OWN_LINKED_FILES = 3;
/** JSON, UTF-8: arguments and environment at the start, redacted. */
export const OWN_START_WORDS = 4;

/** struct elf_prstatus: 336 bytes on x86-64, 392 on arm64; identical up to the registers. */
export const PRSTATUS_SIZE = 336;
export const PR_CURSIG = 12;
export const PR_PID = 32;
export const PR_REG = 112;
/** struct user_regs_struct, x86-64: 27 words. */
export const x64Registers = [
  'r15',
  'r14',
  'r13',
  'r12',
  'rbp',
  'rbx',
  'r11',
  'r10',
  'r9',
  'r8',
  'rax',
  'rcx',
  'rdx',
  'rsi',
  'rdi',
  'orig_rax',
  'rip',
  'cs',
  'eflags',
  'rsp',
  'ss',
  'fs_base',
  'gs_base',
  'ds',
  'es',
  'fs',
  'gs',
] as const;
export type X64Register = (typeof x64Registers)[number];

/** struct user_pt_regs, arm64: 34 words. */
const arm64Registers = [...Array.from({ length: 31 }, (_, i) => `x${i}`), 'sp', 'pc', 'pstate'] as const;

/** Machines whose cores can be read. */
export type CoreMachine = 'x64' | 'arm64';

/** `number`: e_machine. */
export const machines: Record<
  CoreMachine,
  { number: number; registers: readonly string[]; programCounter: string; stackPointer: string }
> = {
  x64: { number: 62, registers: x64Registers, programCounter: 'rip', stackPointer: 'rsp' },
  arm64: { number: 183, registers: arm64Registers, programCounter: 'pc', stackPointer: 'sp' },
};

/** struct elf_prpsinfo on 64-bit machines. */
export const PRPSINFO_SIZE = 136;
export const PR_UID = 16;
export const PR_PSINFO_PID = 24;
export const PR_PPID = 28;
export const PR_FNAME = 40;
export const PR_PSARGS = 56;

/** siginfo_t on 64-bit machines. */
export const SI_CODE = 8;
export const SI_ADDR = 16;
/** At the offset of the address, if the signal was sent with kill, sigqueue or tkill. */
export const SI_PID = 16;
export const SI_UID = 20;
export const SI_USER = 0;
/** Where a seccomp filter refused a call: behind the address of the instruction. */
export const SIGSYS = 31;
export const SYS_SECCOMP = 1;
export const SI_SYSCALL = 24;
/** SI_USER, SI_QUEUE, SI_TKILL: the codes that come with the sender's pid. */
export const senderCodes: readonly number[] = [0, -1, -6];

export const AT_PHDR = 3;
export const AT_ENTRY = 9;
export const AT_EXECFN = 31;
export const AT_SYSINFO_EHDR = 33;

export const signalNames: Record<number, string> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  5: 'SIGTRAP',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  10: 'SIGUSR1',
  11: 'SIGSEGV',
  12: 'SIGUSR2',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
  19: 'SIGSTOP',
  24: 'SIGXCPU',
  25: 'SIGXFSZ',
  31: 'SIGSYS',
};

/** si_code values of any signal: the kind of sender. */
export const generalCodes: Record<number, string> = {
  0: 'SI_USER',
  128: 'SI_KERNEL',
  [-1]: 'SI_QUEUE',
  [-2]: 'SI_TIMER',
  [-6]: 'SI_TKILL',
};
/** si_code values of faults, by signal. */
export const faultCodes: Record<number, Record<number, string>> = {
  4: {
    1: 'ILL_ILLOPC',
    2: 'ILL_ILLOPN',
    3: 'ILL_ILLADR',
    4: 'ILL_ILLTRP',
    5: 'ILL_PRVOPC',
    6: 'ILL_PRVREG',
    7: 'ILL_COPROC',
    8: 'ILL_BADSTK',
  },
  5: { 1: 'TRAP_BRKPT', 2: 'TRAP_TRACE', 4: 'TRAP_HWBKPT' },
  7: { 1: 'BUS_ADRALN', 2: 'BUS_ADRERR', 3: 'BUS_OBJERR', 4: 'BUS_MCEERR_AR' },
  8: { 1: 'FPE_INTDIV', 2: 'FPE_INTOVF', 3: 'FPE_FLTDIV', 7: 'FPE_FLTINV' },
  11: { 1: 'SEGV_MAPERR', 2: 'SEGV_ACCERR', 3: 'SEGV_BNDERR', 4: 'SEGV_PKUERR' },
  [SIGSYS]: { [SYS_SECCOMP]: 'SYS_SECCOMP' },
};
