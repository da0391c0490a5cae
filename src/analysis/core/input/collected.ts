/**
 * What the kernel's core collectors record beside a core: the fields of an apport report, the file name of systemd-coredump.
 * Pure.
 */
import type { ApportFacts } from '../../../formats/apport-report/read-report.ts';
import type { CoreFile } from '../../../formats/elf-core/core-contents.ts';

export interface Collected {
  by: 'apport' | 'systemd-coredump';
  executable?: string;
  arguments?: string[];
  cwd?: string;
  signal?: number;
  pid?: number;
  /** The time of the death, in the collector's own format. */
  at?: string;
}

export function collectedByApport({ date, ...facts }: ApportFacts): Collected {
  return { by: 'apport', ...facts, ...(date && { at: `${date}, in its local time` }) };
}

/**
 * `core.<comm>.<uid>.<boot id>.<pid>.<µs since 1970>[.zst]`. Source: systemd's coredump.c (make_filename). Undefined for any
 * other name. systemd-coredump stores the rest in extended attributes and the journal, which are not read.
 */
export function collectedBySystemd(name: string): Collected | undefined {
  const match = /^core\..+\.\d+\.[0-9a-f]{32}\.(\d+)\.(\d{15,17})(?:\.(?:zst|lz4|xz))?$/.exec(name);
  if (!match) return undefined;
  const at = new Date(Number(match[2]) / 1000);
  return { by: 'systemd-coredump', pid: Number(match[1]), at: at.toISOString() };
}

/** A sentence if the collector describes another process than the core does; otherwise undefined. */
export function contradiction(collected: Collected, core: CoreFile): string | undefined {
  const { by, pid, signal } = collected;
  const died = core.threads[0]?.signal;
  if (pid !== undefined && core.process && pid !== core.process.pid)
    return `${by} says that it is of process ${pid}, the core that it is of ${core.process.pid}: the core is believed`;
  if (signal !== undefined && died && signal !== died)
    return `${by} says that signal ${signal} ended it, the core that it was ${died}: the core is believed`;
  return undefined;
}
