/**
 * The interface to the operating system. Every member is available on every system: information that a system does not
 * provide is `undefined` or an empty list, and nothing throws unless documented.
 */

/** A process of this machine, or this one. */
export type Pid = number | 'self';

export interface Platform {
  /** The value of `process.platform`. */
  readonly name: string;
  /** As its users call it. */
  readonly title: string;
  /** Whether the kernel exposes processes and itself as files. If not, the members of the next group return nothing. */
  readonly hasProcessFiles: boolean;

  // The files in which a kernel exposes a process (proc(5)), for information that no other system provides.
  /** Text of the file `name`, possibly in a subfolder: `limits`, `net/tcp`. */
  processFile(pid: Pid, name: string, maxBytes?: number): string | undefined;
  processFolder(pid: Pid, name: string): string[];
  processLink(pid: Pid, name: string): string | undefined;
  /** A path for callers that open or read it themselves and need the error. Throws `unavailable`. */
  processPath(pid: Pid, name: string): string;
  /** Fields of the `stat` of a process or thread, from the third (state) on. */
  processStat(pid: Pid, tid?: number | string): string[] | undefined;
  /** Text of a file about the system itself: `meminfo`, `sys/kernel/core_pattern`; trimmed. */
  kernelFile(name: string): string | undefined;
  /** Mount point of control groups. */
  readonly groupMount: string | undefined;
  /** The kernel's log. */
  readonly kernelLog: string | undefined;

  // Processes.
  /** All visible processes. May run another program, which takes up to a tenth of a second: not for a dying process. */
  processes(): ListedProcess[];
  /** Whether a process with this number exists, including dead ones that have not been reaped. */
  isThere(pid: number): boolean;
  /** Together with the number, identifies a process uniquely; undefined if another program would have to be run. */
  startToken(pid: Pid): string | undefined;
  /** Start time in milliseconds since 1970, with a precision of about a second. May run another program. */
  startedAtMs(pid: number): number | undefined;
  /** How a child ended that has not been reaped. */
  unreapedEnd(pid: number): UnreapedEnd | undefined;
  /** Requests a running Node to open its inspector. Throws the system's errors. */
  askForInspector(pid: number): void;
  /** The request kills a process that is not Node, or does not listen for it. */
  readonly inspectorMayKill: boolean;
  bootId(): string | undefined;
  /** From a file, because node:os is not loaded at every start. */
  hostName(): string;
  /** Approximate start time of the system, in milliseconds since 1970. */
  bootedAtMs(): number;
  pidNamespace(pid: Pid): string | undefined;

  /** The file and arguments to spawn for a program that a user names as in a shell. */
  command(file: string, words: readonly string[], environment: NodeJS.ProcessEnv): SpawnWords;

  /** The command that shows a file to the user in the default application; undefined if there is no display. */
  opener(path: string): SpawnWords | undefined;

  // This process.
  memoryUsage(): NodeJS.MemoryUsage;
  /** Resident size of this process; the peak if the system does not provide the current value. */
  residentBytes(): number;
  /** Memory that can be allocated without swapping. */
  availableBytes(): number;
  limits(pid: Pid): Limits;
  /** The system's number of the calling thread; 0 if not available. */
  ownThreadId(): number;
  /** False if the system is known to refuse another thread to this process. */
  mayStartThread(): boolean;
  /** Open descriptors; undefined if only Node's own report provides them (`libuvHandles`). */
  openDescriptors(pid: Pid, most: number): OpenDescriptors | undefined;
  /** A path with which an open file can be opened again; undefined if there is none. */
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
  /** At most as many as requested. */
  listed: { fd: number; kind: string; target: string }[];
  count: number;
}

/** Properties of files and folders on a system. */
export interface FileRules {
  /** Folders on in-memory file systems, best first. */
  readonly memoryFolders: readonly string[];
  /** Whether a folder can be renamed while a file in it is open. */
  readonly canRenameAroundOpenFiles: boolean;
  /** Restricts access to the owner. Throws the system's errors. */
  restrictFile(fd: number): void;
  restrictFilePath(path: string): void;
  /** `fd`: an open descriptor of the folder, which is then used instead of the path. */
  restrictFolder(path: string, fd?: number): void;
  /** Opens a folder, but not through a link; undefined on systems where this has no use. Throws the system's errors. */
  openFolder(path: string): number | undefined;
  /** A path that leads to the open folder even if its name now refers to something else; undefined without one. */
  throughDescriptor(fd: number): string | undefined;
  /** The owner of a file is known, and nobody else can make a file that belongs to it. */
  readonly knowsOwners: boolean;
  /** Root can do anything to this process anyway, and container platforms mount volumes that root owns. */
  isTrustedOwner(uid: number): boolean;
  isOwn(uid: number): boolean;
  /** Replaces an existing file with this name. Throws the system's errors. */
  rename(from: string, to: string): void;
  /** Creates a small text atomically; throws EEXIST if the name exists. */
  makeMark(text: string, path: string): void;
  /** Throws the system's errors. */
  readMark(path: string): string;
  /**
   * After this, the file's contents survive a power failure; under `--permission` only the death of the process, because Node
   * refuses fsync and fdatasync there. Throws the system's errors.
   */
  syncFile(fd: number): void;
  /** Like `syncFile`, for the name of a new file. */
  syncFolder(path: string): void;
  /** Whether a file or folder may have this name. */
  isUsableName(name: string): boolean;
}
