/**
 * What the rest of the program asks of the operating system. Every question has an answer on every system: what a
 * system does not tell is `undefined` or an empty list, and nothing throws unless it says so.
 */

/** A process of this machine, or this one. */
export type Pid = number | 'self';

export interface Platform {
  /** As `process.platform` says it. */
  readonly name: string;
  /** As its users call it. */
  readonly title: string;
  /** The kernel shows processes and itself as files; without them the readings below the next line have no answer. */
  readonly hasProcessFiles: boolean;

  // The files in which a kernel shows a process (proc(5)): for what no other system tells.
  /** Text of `name`, which may lead through folders: `limits`, `net/tcp`. */
  processFile(pid: Pid, name: string, maxBytes?: number): string | undefined;
  processFolder(pid: Pid, name: string): string[];
  processLink(pid: Pid, name: string): string | undefined;
  /** To be opened or read by the caller, who wants to know why that failed. Throws `unavailable`. */
  processPath(pid: Pid, name: string): string;
  /** Fields of the process's or thread's `stat`, from the third (state) on. */
  processStat(pid: Pid, tid?: number | string): string[] | undefined;
  /** Text of a file about the system itself: `meminfo`, `sys/kernel/core_pattern`; trimmed. */
  kernelFile(name: string): string | undefined;
  /** Where control groups are mounted. */
  readonly groupMount: string | undefined;
  /** The kernel's log. */
  readonly kernelLog: string | undefined;

  // Processes.
  /** Every process that can be seen. May start a program to ask, and take a tenth of a second: not for a dying process. */
  processes(): ListedProcess[];
  /** Whether there is a process of this number, dead and not reaped ones included. */
  isThere(pid: number): boolean;
  /** With the number it names a process for ever; undefined where it takes a program to ask. */
  startToken(pid: Pid): string | undefined;
  /** When it began, in milliseconds since 1970, give or take a second. May start a program to ask. */
  startedAtMs(pid: number): number | undefined;
  /** How a child ended that nobody has waited for. */
  unreapedEnd(pid: number): UnreapedEnd | undefined;
  /** Asks a running Node to open its inspector. Throws what the system throws. */
  askForInspector(pid: number): void;
  /** A process that is no Node, or does not listen, dies of being asked. */
  readonly inspectorMayKill: boolean;
  bootId(): string | undefined;
  /** When the system started, in milliseconds since 1970, about. */
  bootedAtMs(): number;
  pidNamespace(pid: Pid): string | undefined;

  /** How to start a program that a user names as in a shell. */
  command(file: string, words: readonly string[], environment: NodeJS.ProcessEnv): SpawnWords;

  /** How to show a file to the user with what opens such files; undefined where there is nothing to show it on. */
  opener(path: string): SpawnWords | undefined;

  // This process.
  memoryUsage(): NodeJS.MemoryUsage;
  /** Of this process; the most that it ever had, where the system does not tell what it has. */
  residentBytes(): number;
  /** What the system would give without swapping. */
  availableBytes(): number;
  limits(pid: Pid): Limits;
  /** The system's number of the thread that asks; 0 where it can't be had. */
  ownThreadId(): number;
  /** False where the system is known to refuse this process another thread. */
  mayStartThread(): boolean;
  /** What it has open; undefined where only Node's own report tells (`libuvHandles`). */
  openDescriptors(pid: Pid, most: number): OpenDescriptors | undefined;
  /** A second way to a file that is open; undefined without one. */
  reopenPath(fd: number): string | undefined;

  readonly files: FileRules;
}

/** For `spawn` of node:child_process. */
export interface SpawnWords {
  file: string;
  words: string[];
  windowsVerbatimArguments?: true;
}

export interface ListedProcess {
  pid: number;
  parentPid: number;
  /** File name of the program, without its folder. */
  program: string;
}

export interface UnreapedEnd {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

/** By the names of /proc/PID/limits; `unlimited` or a number as text. */
export type Limits = Record<string, { soft: string; hard: string }>;

export interface OpenDescriptors {
  /** At most as many as were asked for. */
  listed: { fd: number; kind: string; target: string }[];
  count: number;
}

/** What files and folders are like here. */
export interface FileRules {
  /** Folders that lie in memory, best first. */
  readonly memoryFolders: readonly string[];
  /** A folder can be renamed while something in it is open. */
  readonly canRenameAroundOpenFiles: boolean;
  /** For its owner alone. Throws what the system throws. */
  restrictFile(fd: number): void;
  restrictFilePath(path: string): void;
  /** `fd` where it is open: then by that, whatever its name leads to. */
  restrictFolder(path: string, fd?: number): void;
  /** Opens a folder, no link; undefined where that serves nothing. Throws what the system throws. */
  openFolder(path: string): number | undefined;
  /** A path that leads to the open folder wherever its name leads meanwhile; undefined without one. */
  throughDescriptor(fd: number): string | undefined;
  /** Root may do anything to us anyway, and container platforms mount volumes that root owns. */
  isTrustedOwner(uid: number): boolean;
  isOwn(uid: number): boolean;
  /** Replaces what has the name. Throws what the system throws. */
  rename(from: string, to: string): void;
  /** A small text that is there whole under a name that was free: EEXIST when it was not. */
  makeMark(text: string, path: string): void;
  /** Throws what the system throws. */
  readMark(path: string): string;
  /**
   * What was written to the file survives a power cut from here on; under `--permission` only the death of the process,
   * since Node refuses fsync and fdatasync there. Throws what the system throws.
   */
  syncFile(fd: number): void;
  /** As `syncFile`, for the name of a new file. */
  syncFolder(path: string): void;
  /** Whether a file or folder may have this name. */
  isUsableName(name: string): boolean;
}
