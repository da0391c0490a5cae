/**
 * Character classes of UTF-16 code units, for the detectors' loops. Tables are built on first use, because the preload
 * includes this file and must load fast. Knows nothing about secrets.
 */
export const alnum = 1;
/** `_` and `-`: they join the parts of a name or of a token. */
export const connector = 2;
export const wordUnit = alnum | connector;
/** May occur between a key's name and its separator: quotes, blanks, closing brackets, `?`. */
export const gap = 4;
/** Makes the scanner look closer: separators, escapes and similar characters. */
export const event = 8;
/** Letters and digits of base64, both alphabets, without padding. */
export const base64Unit = 16;
export const hexUnit = 32;
export const digit = 64;
/** Ends an unquoted value. */
export const terminator = 128;

export interface CharacterTables {
  /** The classes above, indexed by code unit. */
  classes: Uint8Array;
  /** ASCII lower case, indexed by code units below 256. */
  lower: Uint8Array;
  /** Value of a base64 unit, 255 for all others; indexed by code units below 256. */
  sextets: Uint8Array;
}

let tables: CharacterTables | undefined;

export function characterTables(): CharacterTables {
  tables ??= buildTables();
  return tables;
}

function buildTables(): CharacterTables {
  const classes = new Uint8Array(65536);
  const lower = new Uint8Array(256);
  const sextets = new Uint8Array(256).fill(255);
  const mark = (characters: string, bits: number): void => {
    for (let i = 0; i < characters.length; i++) classes[characters.charCodeAt(i)]! |= bits;
  };
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  mark(`${letters}0123456789`, alnum | base64Unit);
  mark('0123456789', digit | hexUnit);
  mark('abcdefABCDEF', hexUnit);
  mark('_-', connector | base64Unit);
  mark('+/', base64Unit);
  mark(' \t"\'`)]?!*', gap);
  mark(':=,>\\%&$~@|\u2502\uff1a\uff1d\u662f\u306f\u4e3a\ub294\uc740', event);
  mark(' \t\n\r\x1b"\'`,;&)]}<>|', terminator);
  for (let i = 0; i < 256; i++) lower[i] = i >= 65 && i <= 90 ? i + 32 : i;
  const alphabet = `${letters}0123456789+/`;
  for (let i = 0; i < 64; i++) sextets[alphabet.charCodeAt(i)] = i;
  sextets[45] = 62;
  sextets[95] = 63;
  return { classes, lower, sextets };
}
