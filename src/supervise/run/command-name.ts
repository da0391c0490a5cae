/** What Node makes of a command line as a shell or the kernel has it: its own options, the program's words, and the name by which a person knows the program. */
import { basename, resolve } from 'node:path';
import { programName } from '../../capture/install/program-name.ts';
import { publicName } from '../../redaction/public-name.ts';

/** Options of Node that take the next word. */
const takesWord =
  /^(?:-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--title|--env-file)$/;

const codeOnTheLine = /^(?:-e|-p|-pe|--eval|--print)(?:=|$)/;

/**
 * As the program would see them: `process.argv`, its script with its whole path, and `process.execArgv`. The command of
 * another program is all argv.
 */
export function splitCommand(
  command: readonly string[],
  cwd = process.cwd(),
): { argv: string[]; execArgv: string[] } {
  const [first = 'program', ...rest] = command;
  if (!isNode(first)) return { argv: [...command], execArgv: [] };
  let at = 0;
  while (at < rest.length) {
    const word = rest[at] ?? '';
    if (codeOnTheLine.test(word)) {
      const end = at + (word.includes('=') ? 1 : 2);
      return { argv: [first, ...rest.slice(end)], execArgv: rest.slice(0, end) };
    }
    if (!word.startsWith('-') || word === '-') break;
    at += takesWord.test(word) ? 2 : 1;
  }
  const [script, ...words] = rest.slice(at);
  const path = script === undefined ? [] : [script === '-' ? script : resolve(cwd, script)];
  return { argv: [first, ...path, ...words], execArgv: rest.slice(0, at) };
}

/** `node --flag /path/app.js` is known as `app`, `npm run x` as `npm`, code on the command line as `node`. */
export function nameOfCommand(
  command: readonly string[],
  cwd = process.cwd(),
  environment: Readonly<Record<string, string | undefined>> = {},
): string {
  const [first = 'program'] = command;
  if (!isNode(first)) return publicName(basename(first));
  const { argv, execArgv } = splitCommand(command, cwd);
  const isFile =
    argv[1] !== undefined && argv[1] !== '-' && !execArgv.some((word) => codeOnTheLine.test(word));
  return isFile ? programName([first, argv[1] as string], environment) : programName([first]);
}

function isNode(path: string): boolean {
  return /^node(js)?$/.test(basename(path));
}
