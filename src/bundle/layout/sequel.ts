/**
 * What became of a process after a bundle that was written while it was alive: one JSON document in a file beside the
 * bundle, which is sealed and stays unchanged. The file has the bundle's name and the suffix `.sequel`. FORMAT.md is the
 * specification.
 */
export const sequelSuffix = '.sequel';
export const sequelSchema = 'agentdump.sequel';
export const sequelVersion = 1;

export interface Sequel {
  schema: typeof sequelSchema;
  version: number;
  /**
   * The event loop turned again, after this long in all; the process ended by itself before that was seen; it died; or the program's
   * own handler of an uncaught exception, or its listener of uncaughtExceptionMonitor, was called, and was not seen to return.
   */
  event: 'recovered' | 'ended' | 'died' | 'handling';
  at: string;
  silentMs?: number;
  /** For an error that the program handled: the exit code with which the process exited, later or within the handler. */
  exitCode?: number;
  /** The handler threw the error again that it was given. */
  rethrown?: true;
  /** The handler threw another error: the name of its bundle, in the same folder. */
  next?: string;
}
