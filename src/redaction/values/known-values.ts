/**
 * Finds hundreds of known values, each in all its forms, at the cost of a few table lookups per line. Four units are hashed
 * only at every n-th position, with n small enough that no form fits between two lookups; nearly all lookups end at a bit
 * table. Boundaries and encodings come from known-encodings.ts.
 */
import { alnum, base64Unit, characterTables } from '../scan/characters.ts';
import type { Finding, Page } from '../scan/page.ts';
import { formsOf, type KnownForm } from './known-encodings.ts';

/** Units per lookup. */
const lookWidth = 4;
/** A larger stride would fill the table: each form has an entry for every position at which a lookup can hit it. */
const longestStride = 12;
const tableBits = 20;

/** Hashes four units to `tableBits` bits. */
function hashUnits(a: number, b: number, c: number, d: number): number {
  const mixed = Math.imul((a << 24) ^ (b << 16) ^ (c << 8) ^ d ^ (a >>> 8), 0x9e3779b1);
  return mixed >>> (32 - tableBits);
}

/** A form, and the offset in it of the units that are looked up. */
interface Place {
  form: KnownForm;
  offset: number;
}

interface Table {
  readonly stride: number;
  /** A bit for the hash of each possible lookup. */
  readonly bits: Int32Array;
  readonly places: Map<number, Place[]>;
}

const newTable = (stride: number): Table => ({
  stride,
  bits: new Int32Array(1 << (tableBits - 5)),
  places: new Map(),
});

function addForms(table: Table, forms: readonly KnownForm[]): void {
  for (const form of forms)
    for (let offset = 0; offset < table.stride; offset++) addPlace(table, { form, offset });
}

function addPlace({ bits, places }: Table, place: Place): void {
  const { text } = place.form;
  const at = place.offset;
  const unit = (n: number): number => text.charCodeAt(at + n);
  const look = hashUnits(unit(0), unit(1), unit(2), unit(3));
  bits[look >>> 5]! |= 1 << (look & 31);
  const list = places.get(look);
  if (list) list.push(place);
  else places.set(look, [place]);
}

export class KnownValues {
  private readonly values = new Set<string>();
  private forms: KnownForm[] = [];
  private table: Table = { stride: 0, bits: new Int32Array(0), places: new Map() };
  /** Values that were added since the table was built. */
  private fresh: string[] = [];

  /** False if the value is too short to be searched for. */
  add(value: string): boolean {
    const text = value.trim();
    if (text.length < 4 || this.values.has(text)) return text.length >= 4;
    this.values.add(text);
    this.fresh.push(text);
    return true;
  }

  /** Pushes every form that starts in [from, stop), in the order of the lookups that found them. */
  find(page: Page, from: number, stop: number, out: Finding[]): void {
    if (this.fresh.length > 0) this.build();
    if (this.forms.length === 0) return;
    const { units, length } = page;
    const { bits, stride } = this.table;
    const last = Math.min(length - lookWidth + 1, stop + stride);
    for (let i = from - (from % stride); i < last; i += stride) {
      const look = hashUnits(units[i]!, units[i + 1]!, units[i + 2]!, units[i + 3]!);
      if ((bits[look >>> 5]! >>> (look & 31)) & 1) this.verify(page, i, look, from, stop, out);
    }
  }

  /**
   * May be stopped in the middle: for good by a deadline, or by a debugger, while another text is redacted. Values count as fresh
   * until all of their places are in a table, and a table is used from when it is complete.
   */
  private build(): void {
    const values = this.fresh;
    const { length } = values;
    const fresh = values.flatMap((value) => formsOf(value));
    const shortest = fresh.reduce(
      (least, { text }) => Math.min(least, text.length),
      longestStride + lookWidth,
    );
    const stride = Math.max(1, Math.min(longestStride, shortest - lookWidth + 1));
    const forms = [...this.forms, ...fresh];
    // Values come one by one while a bundle is written: the table only begins anew if they fall between two lookups.
    const isAddition = this.table.stride !== 0 && stride >= this.table.stride;
    const table = isAddition ? this.table : newTable(stride);
    addForms(table, isAddition ? fresh : forms);
    // Another search has built a table meanwhile.
    if (this.fresh !== values) return;
    this.table = table;
    this.forms = forms;
    this.fresh = values.slice(length);
  }

  private verify(page: Page, i: number, look: number, from: number, stop: number, out: Finding[]): void {
    for (const { form, offset } of this.table.places.get(look) ?? []) {
      const start = i - offset;
      if (start < from || start >= stop || !page.text.startsWith(form.text, start)) continue;
      const end = start + form.text.length;
      if (form.bounded && !standsAlone(page, start, end)) continue;
      out.push(widen(page, start, end, form));
    }
  }
}

function standsAlone(page: Page, start: number, end: number): boolean {
  const { classes } = characterTables();
  const before = start > 0 && classes[page.units[start - 1]!]! & alnum && !followsEscape(page, start);
  return !before && !(classes[page.units[end]!]! & alnum);
}

/** The preceding unit is the last one of an escape (`\n`, `%3D`, `\u003d`). */
function followsEscape(page: Page, start: number): boolean {
  return /(?:\\[nrtbf]|%[0-9a-f]{2}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\x1b\[[\d;]{0,12}m)$/i.test(
    page.text.slice(Math.max(0, start - 16), start),
  );
}

/** Includes the base64 units next to a match that contain bits of the value. */
function widen(page: Page, start: number, end: number, form: KnownForm): Finding {
  const { classes } = characterTables();
  const { units } = page;
  let first = start;
  let last = end;
  for (let n = 0; n < form.before && first > 0 && classes[units[first - 1]!]! & base64Unit; n++) first -= 1;
  for (let n = 0; n < form.after && (classes[units[last]!]! & base64Unit || units[last] === 61); n++)
    last += 1;
  return { start: first, end: last, rule: 'known-value' };
}
