/**
 * .eh_frame and its search table .eh_frame_hdr: finds the frame description (FDE) of an address and its common part (CIE).
 * All addresses are link-time addresses. Bytes are read through SectionBytes, so that sections are never loaded as a whole.
 * Sources: LSB 5 core "Exception Frames", DWARF 5 §6.4.1.
 */
import { ByteCursor } from '../../bytes/cursor.ts';
import { MalformedInput } from '../../errors.ts';
import * as dw from './layout.ts';

const format = 'dwarf-cfi';

/** Bytes by link-time address; undefined if absent. Fewer than requested at the end of a segment. */
export type SectionBytes = (address: number, length: number) => Uint8Array | undefined;

export interface CommonInformation {
  codeAlign: bigint;
  dataAlign: bigint;
  returnRegister: number;
  pointerEncoding: number;
  hasAugmentation: boolean;
  /** The frame of a signal handler: its return address is the interrupted instruction itself. */
  isSignalFrame: boolean;
  instructions: Uint8Array;
}

export interface FrameDescription {
  common: CommonInformation;
  start: number;
  /** Exclusive. */
  end: number;
  instructions: Uint8Array;
}

/** Entries have about ten to a few thousand bytes. */
const maxEntrySize = 1 << 20;
/** fde_count of a hundred-megabyte binary is 130,000. */
const maxTableEntries = 1 << 24;

export class EhFrame {
  readonly #bytes: SectionBytes;
  readonly #tableAddress: number;
  readonly #headerAddress: number;
  readonly #count: number;
  readonly #commons = new Map<number, CommonInformation>();

  /** `headerAddress`: address of .eh_frame_hdr. Throws MalformedInput if it has no sorted table in the usual encoding. */
  constructor(headerAddress: number, bytes: SectionBytes) {
    this.#bytes = bytes;
    this.#headerAddress = headerAddress;
    const head = new ByteCursor(bytes(headerAddress, 32) ?? new Uint8Array(), format);
    const version = head.u8('version');
    const frameEncoding = head.u8('eh_frame_ptr_enc');
    const countEncoding = head.u8('fde_count_enc');
    const tableEncoding = head.u8('table_enc');
    if (version !== 1 || tableEncoding !== (dw.DW_EH_PE_datarel | dw.DW_EH_PE_sdata4))
      throw head.error(
        'eh_frame_hdr',
        0,
        'version 1 with a sorted table',
        `version ${version}, ${tableEncoding}`,
      );
    readPointer(head, frameEncoding, headerAddress, headerAddress);
    this.#count = readPointer(head, countEncoding, headerAddress, headerAddress);
    if (this.#count > maxTableEntries)
      throw head.error('fde_count', 8, 'a plausible count', `${this.#count}`);
    this.#tableAddress = headerAddress + head.position;
  }

  /** The description whose range contains the address. */
  find(address: number): FrameDescription | undefined {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const start = this.#entry(middle, 0);
      if (start === undefined) return undefined;
      if (start <= address) low = middle + 1;
      else high = middle;
    }
    const at = low > 0 ? this.#entry(low - 1, 4) : undefined;
    const found = at === undefined ? undefined : this.#readDescription(at);
    return found && address >= found.start && address < found.end ? found : undefined;
  }

  #entry(row: number, part: 0 | 4): number | undefined {
    const bytes = this.#bytes(this.#tableAddress + row * 8 + part, 4);
    if (!bytes || bytes.length < 4) return undefined;
    return this.#headerAddress + new DataView(bytes.buffer, bytes.byteOffset).getInt32(0, true);
  }

  #readDescription(address: number): FrameDescription | undefined {
    const body = this.#readEntry(address);
    const pointerAt = address + 4;
    const distance = body.u32('CIE_pointer');
    if (distance === 0) throw body.error('CIE_pointer', address, 'an FDE', 'a CIE');
    const common = this.#readCommon(pointerAt - distance);
    const start = readPointer(body, common.pointerEncoding, pointerAt + body.position, this.#headerAddress);
    const length = readPointer(body, common.pointerEncoding & 0x0f, 0, 0);
    if (common.hasAugmentation) body.take(Number(body.uleb('augmentation length')), 'augmentation data');
    return { common, start, end: start + length, instructions: body.take(body.remaining, 'instructions') };
  }

  /** A cursor over the bytes of an entry after its length. */
  #readEntry(address: number): ByteCursor {
    const head = this.#bytes(address, 4);
    const size =
      head && head.length === 4 ? new DataView(head.buffer, head.byteOffset).getUint32(0, true) : 0;
    const bytes = size > 0 && size <= maxEntrySize ? this.#bytes(address + 4, size) : undefined;
    if (bytes?.length === size) return new ByteCursor(bytes, format);
    throw new MalformedInput(`${format}: an entry of ${size} bytes is not there`, {
      format,
      field: 'length',
      offset: address,
      wanted: `${size}`,
    });
  }

  #readCommon(address: number): CommonInformation {
    const known = this.#commons.get(address);
    if (known) return known;
    const body = this.#readEntry(address);
    const id = body.u32('CIE_id');
    const version = body.u8('version');
    if (id !== 0 || (version !== 1 && version !== 3))
      throw body.error('CIE', address, 'version 1 or 3', `id ${id}, version ${version}`);
    const augmentation = body.cString('augmentation');
    const codeAlign = body.uleb('code_alignment_factor');
    const dataAlign = body.sleb('data_alignment_factor');
    const returnRegister = version === 1 ? body.u8('return register') : Number(body.uleb('return register'));
    const common: CommonInformation = {
      codeAlign,
      dataAlign,
      returnRegister,
      pointerEncoding: dw.DW_EH_PE_absptr,
      hasAugmentation: augmentation.startsWith('z'),
      isSignalFrame: augmentation.includes('S'),
      instructions: new Uint8Array(),
    };
    readAugmentation(body, augmentation, common);
    common.instructions = body.take(body.remaining, 'instructions');
    this.#commons.set(address, common);
    return common;
  }
}

function readAugmentation(body: ByteCursor, augmentation: string, common: CommonInformation): void {
  if (!augmentation.startsWith('z')) {
    if (augmentation !== '') throw body.error('augmentation', 0, 'one that starts with z', augmentation);
    return;
  }
  const end = Number(body.uleb('augmentation length')) + body.position;
  for (const letter of augmentation.slice(1)) {
    if (letter === 'R') common.pointerEncoding = body.u8('pointer encoding');
    else if (letter === 'L') body.u8('language data encoding');
    else if (letter === 'P') readPointer(body, body.u8('personality encoding') & 0x0f, 0, 0);
  }
  if (end > body.bytes.length)
    throw body.error('augmentation length', 0, 'a length within the entry', `${end}`);
  body.position = end;
}

/** A pointer in one of the DW_EH_PE encodings. `place` is its own address, `data` that of .eh_frame_hdr. */
function readPointer(cursor: ByteCursor, encoding: number, place: number, data: number): number {
  if (encoding === dw.DW_EH_PE_omit) return 0;
  const relative = encoding & 0x70;
  if ((encoding & dw.DW_EH_PE_indirect) !== 0 || (relative !== 0 && relative !== 0x10 && relative !== 0x30))
    throw cursor.error('pointer encoding', cursor.position, 'absolute, pc- or data-relative', `${encoding}`);
  const at = relative === dw.DW_EH_PE_pcrel ? placeOf(cursor, place, data) : relative === 0 ? 0 : data;
  return at + readValue(cursor, encoding & 0x0f);
}

/** In the header the address of the pointer follows from the cursor; for an entry the caller has computed it. */
function placeOf(cursor: ByteCursor, place: number, data: number): number {
  return place === data ? data + cursor.position : place;
}

function readValue(cursor: ByteCursor, kind: number): number {
  switch (kind) {
    case dw.DW_EH_PE_absptr:
    case dw.DW_EH_PE_udata8:
      return Number(cursor.u64('pointer'));
    case dw.DW_EH_PE_uleb128:
      return Number(cursor.uleb('pointer'));
    case dw.DW_EH_PE_udata2:
      return cursor.u16('pointer');
    case dw.DW_EH_PE_udata4:
      return cursor.u32('pointer');
    case dw.DW_EH_PE_sleb128:
      return Number(cursor.sleb('pointer'));
    case dw.DW_EH_PE_sdata2:
      return cursor.i16('pointer');
    case dw.DW_EH_PE_sdata4:
      return cursor.i32('pointer');
    case dw.DW_EH_PE_sdata8:
      return Number(cursor.i64('pointer'));
    default:
      throw cursor.error('pointer encoding', cursor.position, 'a known width', `${kind}`);
  }
}
