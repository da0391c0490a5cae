/** An entry of a list of programs. */
export interface Program {
  /** Unique: the package, and what is done with it. */
  name: string;
  /** The package whose code runs. */
  package: string;
  room: Room;
  /**
   * Behind `node`. A word `bin:eslint` is the path of that command line, `package:dd-trace/init` of that module in the room; others
   * stay as they are, below the working folder.
   */
  words: readonly string[];
  /** Copied into the working folder before each run: the shared project, or the package itself. */
  copy: 'project' | 'package' | 'nothing';
  /** Also written to the working folder. */
  files?: Readonly<Record<string, string>>;
  stdin?: string;
  env?: Readonly<Record<string, string>>;
  /** Performed in order, each after output that matches its `when`. */
  steps?: readonly Step[];
  /** Nodes on which it is not run, with the reason. */
  not?: Readonly<Partial<Record<20 | 22 | 24 | 26, string>>>;
}

/** The folders in which packages are installed, each with its lock file. */
export type Room = 'suites' | 'tools' | 'services';

export interface Step {
  /** Awaited in what the program has written to both streams since the previous step. */
  when: RegExp;
  /** `GET` of the address in the pattern's first group, a signal to the program, or text appended to a file. */
  get?: string;
  signal?: NodeJS.Signals;
  write?: { file: string; text: string };
  /** Closes the program's stdin. */
  end?: true;
}
