/**
 * Keeps the gzip members of a redacted heap until they are written to a bundle. A heap of a gigabyte has some 200 MB of them. They
 * are in a file without a name, so that they take no memory, and are removed whichever way this process ends.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync, statfsSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const mostInMemory = 4 << 20;
/** File systems in memory: tmpfs, ramfs (statfs(2)). A file there would save nothing. */
const inMemory = new Set([0x0102_1994, 0x8584_58f6]);

export class MemberSpool {
  /** In order: a member in memory, or its place in the file. */
  readonly #members: (Uint8Array | { at: number; length: number })[] = [];
  #kept = 0;
  #file: number | undefined;
  #end = 0;
  #hasNoFile = false;
  #isClosed = false;

  /** One that was still being compressed when its reading failed comes after `close`, and is dropped. */
  add(member: Uint8Array): void {
    if (this.#isClosed) return;
    if (this.#kept + member.length <= mostInMemory || !this.#write(member)) {
      this.#members.push(member);
      this.#kept += member.length;
    }
  }

  /** All members in order, once: then the file is closed. */
  *take(): Generator<Uint8Array> {
    try {
      for (const member of this.#members) {
        if (member instanceof Uint8Array) {
          yield member;
          continue;
        }
        const bytes = new Uint8Array(member.length);
        for (let done = 0; done < bytes.length; ) {
          const got = readSync(this.#file!, bytes, done, bytes.length - done, member.at + done);
          if (got === 0) throw new Error('the file of the redacted heap ends early');
          done += got;
        }
        yield bytes;
      }
    } finally {
      this.close();
    }
  }

  close(): void {
    this.#isClosed = true;
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#members.length = 0;
  }

  /** False if there is no file, or no room in it: the member must be kept in memory. */
  #write(member: Uint8Array): boolean {
    if (this.#hasNoFile) return false;
    try {
      this.#file ??= openNameless();
      for (let done = 0; done < member.length; )
        done += writeSync(this.#file, member, done, member.length - done, this.#end + done);
      this.#members.push({ at: this.#end, length: member.length });
      this.#end += member.length;
      return true;
    } catch {
      this.#hasNoFile = true;
      return false;
    }
  }
}

/** Throws if the temporary folder can't be written to, or is in memory. */
function openNameless(): number {
  const folder = tmpdir();
  if (inMemory.has(statfsSync(folder).type)) throw new Error(`${folder} is in memory`);
  const path = join(folder, `agentdump-heap-${process.pid}-${randomBytes(8).toString('hex')}`);
  const file = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return file;
}
