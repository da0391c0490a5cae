/** What a list of programs says of each. */
export interface Program {
  /** Unique: the package, and what is done with it. */
  name: string;
  /** Whose code it is. */
  package: string;
  room: Room;
  /**
   * Behind `node`. A word `bin:eslint` is the path of that command line, `package:dd-trace/init` of that module in the room; others
   * stay as they are, below the working folder.
   */
  words: readonly string[];
  /** Copied into the working folder before each run: the project that all share, or the package itself. */
  copy: 'project' | 'package' | 'nothing';
  /** Written there too. */
  files?: Readonly<Record<string, string>>;
  stdin?: string;
  env?: Readonly<Record<string, string>>;
  /** Done one after the other once the program has said so. */
  steps?: readonly Step[];
  /** Not on these Nodes: why. */
  not?: Readonly<Partial<Record<20 | 22 | 24 | 26, string>>>;
}

/** Where packages are installed, each with its lock file. */
export type Room = 'suites' | 'tools' | 'services';

export interface Step {
  /** Waited for in what the program has written to both streams since the step before. */
  when: RegExp;
  /** `GET` of the address that the pattern's first group names, a signal to the program, or a line of a file. */
  get?: string;
  signal?: NodeJS.Signals;
  write?: { file: string; text: string };
  /** Ends the input. */
  end?: true;
}
