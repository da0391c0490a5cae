/**
 * Names of system calls that seccomp filters of containers and services refuse. Source: the kernel's tables of x86-64 and of
 * arm64 (asm-generic); from 424 on all machines have the same numbers.
 */
import type { CoreMachine } from '../../../formats/elf-core/layout.ts';

const newer: Record<number, string> = {
  424: 'pidfd_send_signal',
  425: 'io_uring_setup',
  426: 'io_uring_enter',
  427: 'io_uring_register',
  434: 'pidfd_open',
  435: 'clone3',
  436: 'close_range',
  437: 'openat2',
  438: 'pidfd_getfd',
  439: 'faccessat2',
  441: 'epoll_pwait2',
  452: 'fchmodat2',
};

const older: Record<CoreMachine, Record<number, string>> = {
  x64: {
    41: 'socket',
    56: 'clone',
    57: 'fork',
    59: 'execve',
    90: 'chmod',
    92: 'chown',
    101: 'ptrace',
    110: 'getppid',
    155: 'pivot_root',
    157: 'prctl',
    161: 'chroot',
    165: 'mount',
    203: 'sched_setaffinity',
    248: 'add_key',
    250: 'keyctl',
    251: 'ioprio_set',
    272: 'unshare',
    298: 'perf_event_open',
    302: 'prlimit64',
    308: 'setns',
    310: 'process_vm_readv',
    317: 'seccomp',
    318: 'getrandom',
    319: 'memfd_create',
    321: 'bpf',
    322: 'execveat',
    323: 'userfaultfd',
    324: 'membarrier',
    332: 'statx',
    334: 'rseq',
  },
  arm64: {
    40: 'mount',
    41: 'pivot_root',
    51: 'chroot',
    97: 'unshare',
    117: 'ptrace',
    122: 'sched_setaffinity',
    167: 'prctl',
    173: 'getppid',
    198: 'socket',
    217: 'add_key',
    219: 'keyctl',
    220: 'clone',
    221: 'execve',
    241: 'perf_event_open',
    261: 'prlimit64',
    268: 'setns',
    270: 'process_vm_readv',
    277: 'seccomp',
    278: 'getrandom',
    279: 'memfd_create',
    280: 'bpf',
    281: 'execveat',
    282: 'userfaultfd',
    283: 'membarrier',
    291: 'statx',
    293: 'rseq',
  },
};

/** `425 (io_uring_setup)`, or the number alone. */
export function nameSystemCall(number: number, machine: CoreMachine): string {
  const name = newer[number] ?? older[machine][number];
  return name ? `${number} (${name})` : `${number}`;
}
