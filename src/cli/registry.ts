/**
 * The table of commands. A command's file is imported only when that command runs, so the others cost nothing at
 * start; the one-line descriptions here are all that `--help` needs.
 */
import type { CommandModule } from 'yargs';

export interface CommandEntry {
  name: string;
  describe: string;
  /** The module's default export is the whole command: arguments, one call, one rendering. */
  load(): Promise<{ default: CommandModule<object, never> | CommandModule }>;
}

export const commands: readonly CommandEntry[] = [];
