/**
 * Parses the errors of Node's module loaders: which module, of which package, requested by which file. Covers the message
 * formats of Node 20 to 26 (lib/internal/errors.js, lib/internal/modules/**, src/node_binding.cc).
 */
import { isFrameOfLoader } from '../../../bundle/layout/verdict-codes.ts';
import type { ErrorFacts } from '../../../model/account.ts';
import type { Frame } from '../../../model/thread.ts';

export interface MissingModule {
  specifier: string;
  /** The importing file. */
  from?: string;
  /** The package of the specifier; absent for a file of the program. */
  packageName?: string;
}

/** For MODULE_NOT_FOUND and ERR_MODULE_NOT_FOUND. */
export function missingModuleOf(error: ErrorFacts): MissingModule | undefined {
  if (error.code !== 'MODULE_NOT_FOUND' && error.code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const message = error.message ?? '';
  const [, specifier, importer] =
    /^Cannot find (?:module|package) '([^'\n]+)'(?: imported from (.+))?/.exec(message) ?? [];
  if (specifier === undefined) return undefined;
  const from = importer ?? /^Require stack:\n- (.+)$/m.exec(message)?.[1];
  const packageName = packageOf(specifier);
  return {
    specifier,
    ...(from !== undefined && { from }),
    ...(packageName !== undefined && { packageName }),
  };
}

/** `@scope/name` or `name`, from a bare specifier or a path below node_modules; otherwise undefined. */
export function packageOf(specifier: string): string | undefined {
  const below = specifier.split(/node_modules[\\/]/).at(-1) ?? specifier;
  if (below === specifier && /^(\.|\/|[a-z]+:|[A-Z]:)/.test(specifier)) return undefined;
  return /^(@[^/]+\/[^/]+|[^@/][^/]*)/.exec(below.replaceAll('\\', '/'))?.[1];
}

/** The package that lacks the requested export: a name or a subpath. */
export function packageWithoutExport(error: ErrorFacts): { packageName: string; asked: string } | undefined {
  const message = error.message ?? '';
  const named =
    /^The requested module '([^']+)' (?:does not provide an export named '([^']+)'|is a CommonJS module)/.exec(
      message,
    );
  if (named) return inPackage(named[1], named[2] ?? 'a named export');
  const subpath =
    /^(?:Package subpath '([^']+)' is not defined|No "exports" main defined)[^\n]* in (.+?)package\.json/.exec(
      message,
    );
  return subpath ? inPackage(subpath[2]?.replace(/\/$/, ''), subpath[1] ?? 'its main entry') : undefined;
}

function inPackage(
  specifier: string | undefined,
  asked: string,
): { packageName: string; asked: string } | undefined {
  const packageName = specifier && packageOf(specifier);
  return packageName ? { packageName, asked } : undefined;
}

/** Node's major version by NODE_MODULE_VERSION (doc/abi_version_registry.json). */
const nodeOfAbi: Record<string, string> = {
  72: '12',
  83: '14',
  93: '16',
  108: '18',
  111: '19',
  115: '20',
  120: '21',
  127: '22',
  131: '23',
  137: '24',
  141: '25',
  147: '26',
};

export interface WrongAbi {
  file?: string;
  builtFor: string;
  runningOn: string;
  /** The two numbers as Node prints them. */
  versions: string;
}

/** A native addon compiled for another version of Node: `Node 16`, or the bare number if the version is not in the table. */
export function wrongAbiOf(error: ErrorFacts): WrongAbi | undefined {
  const message = error.message ?? '';
  const [builtFor, runningOn] = [...message.matchAll(/NODE_MODULE_VERSION (\d{1,4})/g)].map(
    (m) => m[1] ?? '',
  );
  if (builtFor === undefined || runningOn === undefined) return undefined;
  const file = /The module '([^'\n]+)'/.exec(message)?.[1];
  return {
    builtFor: abiText(builtFor),
    runningOn: abiText(runningOn),
    versions: `NODE_MODULE_VERSION ${builtFor} against ${runningOn}`,
    ...(file !== undefined && { file }),
  };
}

function abiText(version: string): string {
  const node = nodeOfAbi[version];
  return node ? `Node ${node}` : `module version ${version}`;
}

/**
 * True if the error was thrown by a module loader: a loader's frame comes before any frame of the program or of a package.
 */
export function isThrownByLoader(error: ErrorFacts, frames: readonly Frame[]): boolean {
  if (!frames.length) return isFrameOfLoader(firstLines(error.stackText));
  for (const frame of frames.slice(0, 4)) {
    if (frame.file?.startsWith('node:internal/modules/')) return true;
    if (frame.file !== undefined && !frame.file.startsWith('node:')) return false;
  }
  return false;
}

/** The place of a syntax error: Node writes `file:line` before the message in the stack text. */
export function syntaxErrorPlace(error: ErrorFacts): string | undefined {
  const first = error.stackText?.slice(0, 5000).split('\n', 1)[0] ?? '';
  return /^(?:file:\/\/)?(\/.+|[A-Za-z]:\\.+):(\d+)$/.exec(first)?.slice(1).join(':');
}

function firstLines(text: string | undefined): string {
  const lines = (text ?? '').slice(0, 20_000).split('\n');
  const first = lines.findIndex((line) => /^\s+at /.test(line));
  return first < 0 ? '' : lines.slice(first, first + 2).join('\n');
}
