/**
 * Parses a command line as passed to a shell or the kernel the way Node does: Node's own options, the program's arguments,
 * and the name by which people know the program.
 */
import { basename, resolve } from 'node:path';
import { programName } from '../../capture/install/program-name.ts';
import { publicName } from '../../redaction/public-name.ts';

/** Node options that take the next word as their value. */
const takesWord =
  /^(?:-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--title|--env-file)$/;

const codeOnTheLine = /^(?:-e|-p|-pe|--eval|--print)(?:=|$)/;

/**
 * `process.argv` (with the absolute path of the script) and `process.execArgv` as the program will see them. For other
 * programs the whole command is argv.
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

/** `app` for `node --flag /path/app.js`, `npm` for `npm run x`, `node` for code on the command line. */
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
