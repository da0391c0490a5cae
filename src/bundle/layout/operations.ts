/**
 * Operations of Node that fail later, on a stack without a frame of the program: what the error says of the operation, and the
 * functions that start it. The preload keeps the scripts that may call one of them, and the analysis looks for the calls.
 */

export interface FailedOperation {
  syscall?: string | undefined;
  code?: string | undefined;
  message?: string | undefined;
  /** The class of the emitter, if the error was an `error` event. */
  emitter?: string | undefined;
  stack?: string | undefined;
}

export interface Starter {
  name: string;
  /** What the call's object must look like, where other objects have a method of that name. */
  of?: RegExp;
}

const ofFs = /(?:^|[^a-z])(?:fs|promises)|fs(?:$|[^a-z])|(?:fs|promises)$/i;
const ofDns = /dns|resolver/i;
const named = (of: RegExp | undefined, ...names: string[]): Starter[] =>
  names.map((name) => (of ? { name, of } : { name }));

const readStream = named(undefined, 'createReadStream');
const writeStream = named(undefined, 'createWriteStream');

/** Node calls it by the name of the system call, which is seldom that of the function. */
const bySyscall: Readonly<Record<string, readonly Starter[]>> = {
  open: [
    ...readStream,
    ...writeStream,
    ...named(ofFs, 'readFile', 'writeFile', 'appendFile', 'open', 'openAsBlob', 'truncate'),
  ],
  read: [...readStream, ...named(ofFs, 'readFile', 'read')],
  write: [...writeStream, ...named(ofFs, 'writeFile', 'appendFile', 'write')],
  mkdir: named(ofFs, 'mkdir', 'cp'),
  mkdtemp: named(ofFs, 'mkdtemp'),
  scandir: named(ofFs, 'readdir', 'glob', 'cp'),
  opendir: named(ofFs, 'opendir', 'cp'),
  stat: named(ofFs, 'stat', 'cp'),
  lstat: named(ofFs, 'lstat', 'rm', 'cp'),
  unlink: named(ofFs, 'unlink', 'rm'),
  rmdir: named(ofFs, 'rmdir', 'rm'),
  rm: named(ofFs, 'rm'),
  rename: named(ofFs, 'rename'),
  access: named(ofFs, 'access'),
  copyfile: named(ofFs, 'copyFile', 'cp'),
  cp: named(ofFs, 'cp'),
  readlink: named(ofFs, 'readlink'),
  realpath: named(ofFs, 'realpath'),
  symlink: named(ofFs, 'symlink'),
  link: named(ofFs, 'link'),
  chmod: named(ofFs, 'chmod'),
  chown: named(ofFs, 'chown'),
  utime: named(ofFs, 'utimes'),
  watch: named(ofFs, 'watch'),
  getaddrinfo: named(ofDns, 'lookup'),
  queryA: named(ofDns, 'resolve', 'resolve4'),
  queryAaaa: named(ofDns, 'resolve6'),
  queryMx: named(ofDns, 'resolveMx'),
  querySrv: named(ofDns, 'resolveSrv'),
  queryTxt: named(ofDns, 'resolveTxt'),
};

const byEmitter: Readonly<Record<string, readonly Starter[]>> = {
  ReadStream: readStream,
  WriteStream: writeStream,
  FSWatcher: named(ofFs, 'watch'),
  Gunzip: named(undefined, 'createGunzip'),
  Inflate: named(undefined, 'createInflate'),
  InflateRaw: named(undefined, 'createInflateRaw'),
  Unzip: named(undefined, 'createUnzip'),
  BrotliDecompress: named(undefined, 'createBrotliDecompress'),
  ZstdDecompress: named(undefined, 'createZstdDecompress'),
};

const decompressing = named(
  undefined,
  ...['Gunzip', 'Inflate', 'InflateRaw', 'Unzip', 'BrotliDecompress', 'ZstdDecompress'].flatMap((name) => [
    `create${name}`,
    `${name[0]?.toLowerCase()}${name.slice(1)}`,
  ]),
);

/** `read ECONNRESET`, while an error of a file begins with its code. A name is looked up for connections too. */
const isOfSocket = ({ syscall = '', code = '', message = '', stack = '' }: FailedOperation): boolean =>
  syscall === 'getaddrinfo'
    ? !stack.includes('internal/dns/promises')
    : !syscall.startsWith('query') && !message.startsWith(`${code}: `);

/** Of a line of V8's: the name, and that by which the function was called. */
const ofPackage = /^\s+at (?:async )?(?:[\w$]+\.)*([\w$]+)(?: \[as ([\w$]+)\])? \(.*[\\/]node_modules[\\/]/;

/**
 * `connect` of `at async Object.connect (/srv/node_modules/kafkajs/…)`, if that is the outermost function on a stack without a frame of
 * the program: what the program has called, unless the package called it itself.
 */
export function outermostCall(stack: string): string | undefined {
  const lines = linesOutsideNode(stack);
  const [, name, alias] = ofPackage.exec(lines.at(-1) ?? '') ?? [];
  return lines.every((line) => /[\\/]node_modules[\\/]/.test(line)) ? (alias ?? name) : undefined;
}

/** The package in which a stack without a frame of the program begins. */
export function outermostPackage(stack: string): string | undefined {
  const lines = linesOutsideNode(stack);
  const names = lines.map(
    (line) => /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(line)?.[1],
  );
  return names.includes(undefined) ? undefined : names.at(-1)?.replace('\\', '/');
}

/** Empty if it is none of them. */
export function startersOf(failed: FailedOperation): readonly Starter[] {
  const { syscall, code, emitter, stack } = failed;
  if (emitter !== undefined) return (Object.hasOwn(byEmitter, emitter) && byEmitter[emitter]) || [];
  if (syscall !== undefined && Object.hasOwn(bySyscall, syscall))
    return isOfSocket(failed) ? [] : (bySyscall[syscall] ?? []);
  if (code !== undefined && /^(?:Z_|ERR_BROTLI|ERR__?ERROR_FORMAT|ZSTD_error)/.test(code))
    return decompressing;
  // The body of a response of fetch.
  return stack?.includes('parseJSONFromBytes') ? named(undefined, 'json') : [];
}

const linesOutsideNode = (stack: string): string[] =>
  stack.split('\n').filter((line) => /^\s+at /.test(line) && !/[ (]node:/.test(line));
