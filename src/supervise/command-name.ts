/** The name by which a person knows a program, of its command line as a shell or the kernel has it. */
import { basename, resolve } from 'node:path';
import { programName } from '../capture/program-name.ts';

/** Options of Node that take the next word. */
const takesWord =
  /^(?:-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--title|--env-file)$/;

/** `node --flag /path/app.js` is known as `app`, `npm run x` as `npm`, code on the command line as `node`. */
export function nameOfCommand(
  command: readonly string[],
  cwd = process.cwd(),
  environment: Readonly<Record<string, string | undefined>> = {},
): string {
  const [first = 'program', ...rest] = command;
  if (!/^node(js)?$/.test(basename(first))) return basename(first);
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (/^(?:-e|-p|-pe|--eval|--print|-)(?:=|$)/.test(word)) break;
    if (!word.startsWith('-')) return programName([first, resolve(cwd, word)], environment);
    if (takesWord.test(word)) at++;
  }
  return programName([first]);
}
