/**
 * What became of a process after a bundle that was written while it lived: one JSON document in a file beside the bundle,
 * which is sealed and stays as it is. Its name is the bundle's and `.sequel`. FORMAT.md is the specification.
 */
export const sequelSuffix = '.sequel';
export const sequelSchema = 'agentdump.sequel';
export const sequelVersion = 1;

export interface Sequel {
  schema: typeof sequelSchema;
  version: number;
  /** The event loop turned again, after so long in all; the process ended by itself before that was seen; or it died. */
  event: 'recovered' | 'ended' | 'died';
  at: string;
  silentMs?: number;
  /** Of an error that the program handled: the code with which the process then ended. */
  exitCode?: number;
}
