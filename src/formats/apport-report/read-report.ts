/**
 * Reads an apport report (`/var/crash/*.crash`) incrementally: some of its fields, and the compressed bytes of its core.
 * Buffers one line of text at a time; lines of base64 may have any length. Source: layout.ts.
 */
import { MalformedInput } from '../../errors.ts';
import * as layout from './layout.ts';

const format = 'apport-report';
/** A command line may be 2 MB, which is of no use to a reader. */
const longestField = 1 << 16;
/** Keys are ASCII words. */
const longestKey = 256;
const NEWLINE = 0x0a;
const BLANK = 0x20;
const COLON = 0x3a;

type State = 'line' | 'key' | 'text' | 'core' | 'skip';

export class ApportReader {
  readonly #fields = new Map<string, string>();
  #state: State = 'line';
  #key = '';
  /** Value of the current field. */
  #value = '';
  #isCore = false;
  /** An incomplete base64 group: up to three characters. */
  #rest = '';
  #position = 0;

  /** The parts of the core in `chunk`. Throws MalformedInput if it is not an apport report. */
  write(chunk: Uint8Array): Buffer[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const core: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      if (this.#state === 'line') {
        at = this.#beginLine(bytes, at);
        continue;
      }
      const end = bytes.indexOf(this.#state === 'key' ? COLON : NEWLINE, at);
      const stop = end < 0 ? bytes.length : end;
      this.#take(bytes.subarray(at, stop), core);
      at = stop;
      if (end >= 0) {
        if (this.#state === 'key') this.#state = 'text';
        else this.#endLine(core);
        at++;
      }
    }
    this.#position += bytes.length;
    return core;
  }

  /** Must be called after the last chunk. */
  end(): { fields: ReadonlyMap<string, string>; hasCore: boolean } {
    this.#keep();
    return { fields: this.#fields, hasCore: this.#isCore };
  }

  #beginLine(bytes: Buffer, at: number): number {
    if (bytes[at] === NEWLINE) return at + 1;
    if (bytes[at] === BLANK) {
      this.#state = this.#continuation();
      if (this.#state === 'text') this.#value += '\n';
      return at + 1;
    }
    this.#keep();
    this.#key = '';
    this.#state = 'key';
    return at;
  }

  #continuation(): State {
    if (this.#value !== layout.BASE64) return this.#isKept() ? 'text' : 'skip';
    return this.#key === layout.CORE_DUMP ? 'core' : 'skip';
  }

  #take(part: Buffer, core: Buffer[]): void {
    if (this.#state === 'key') {
      this.#key += part.toString('latin1');
      if (this.#key.length > longestKey || this.#key.includes('\n'))
        throw new MalformedInput(`${format}: a line has no key`, {
          format,
          field: 'key',
          offset: this.#position,
          wanted: 'a key and a colon',
        });
    } else if (this.#state === 'text') {
      const room = longestField - this.#value.length;
      if (room > 0) this.#value += part.toString('latin1', 0, Math.min(part.length, room));
    } else if (this.#state === 'core') this.#decode(part.toString('latin1'), core);
  }

  #decode(text: string, core: Buffer[]): void {
    const all = this.#rest + text;
    const whole = all.length - (all.length % 4);
    this.#rest = all.slice(whole);
    if (whole > 0) core.push(Buffer.from(all.slice(0, whole), 'base64'));
  }

  #endLine(core: Buffer[]): void {
    if (this.#rest) core.push(Buffer.from(this.#rest, 'base64'));
    this.#rest = '';
    if (this.#value.trim() === layout.BASE64) this.#value = layout.BASE64;
    if (this.#key === layout.CORE_DUMP && this.#value === layout.BASE64) this.#isCore = true;
    this.#state = 'line';
  }

  #keep(): void {
    if (this.#isKept() && this.#value !== layout.BASE64)
      this.#fields.set(this.#key, Buffer.from(this.#value, 'latin1').toString('utf8').trim());
    this.#value = '';
  }

  #isKept(): boolean {
    return (layout.keptFields as readonly string[]).includes(this.#key);
  }
}

export interface ApportFacts {
  /** The executable; for a script, its interpreter. */
  executable?: string;
  arguments?: string[];
  cwd?: string;
  signal?: number;
  pid?: number;
  /** Local time without a time zone: `Thu Nov 26 00:14:05 2026`. */
  date?: string;
}

export function readApportFacts(fields: ReadonlyMap<string, string>): ApportFacts {
  const field = (key: layout.FieldKey) => fields.get(key) || undefined;
  const facts: ApportFacts = {};
  const executable = field('InterpreterPath') ?? field('ExecutablePath');
  const commandLine = field('ProcCmdline');
  const [cwd, signal, date] = [field('ProcCwd'), field('Signal'), field('Date')];
  const pid = /^Pid:\s+(\d+)$/m.exec(field('ProcStatus') ?? '')?.[1];
  if (executable) facts.executable = executable;
  if (commandLine) facts.arguments = splitCommandLine(commandLine);
  if (cwd) facts.cwd = cwd;
  if (signal && /^\d{1,3}$/.test(signal)) facts.signal = Number(signal);
  if (pid) facts.pid = Number(pid);
  if (date) facts.date = date;
  return facts;
}

/** Spaces and backslashes within an argument are escaped with a backslash. */
function splitCommandLine(text: string): string[] {
  const words = text.match(/(?:\\.|[^ ])*(?: |$)/gs) ?? [];
  // The last match is the empty one at the end.
  return words.slice(0, -1).map((word) => word.replace(/ $/, '').replace(/\\(.)/gs, '$1'));
}
