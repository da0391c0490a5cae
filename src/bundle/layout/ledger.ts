/**
 * The ledger's file: one record a line, `<sum> <JSON>\n`. FORMAT.md, "The ledger", says what it proves and what not.
 * Every hash is SHA-256 in lower-case hexadecimal over a domain, a zero byte, and exact bytes of the file.
 */
export const ledgerName = 'ledger';
export const ledgerSchema = 'agentdump.ledger/1';

export const ledgerDomains = {
  /** Of a line's JSON: the line's own sum, which finds damage. */
  line: 'agentdump.ledger/1 line',
  /** Of the file up to an offset: the head there. */
  head: 'agentdump.ledger/1 head',
  /** Before what a seal signs. */
  seal: 'agentdump.ledger/1 seal',
} as const;

/** The first line. Its id makes every head that of this ledger and no other. */
export interface LedgerGenesis {
  ledger: typeof ledgerSchema;
  /** 32 lower-case hexadecimal digits, random. */
  id: string;
  createdAt: string;
}

/** In every later line: what of the file stood when it was written. */
export interface LedgerCover {
  /** How many bytes from the start; all of them unless two wrote at once. */
  covers: number;
  /** The head there. */
  before: string;
  /** Lines that ended there. */
  count: number;
}

export interface LedgerBundle extends LedgerCover {
  bundle: string;
  /** SHA-256 of manifest.json's bytes. */
  manifest: string;
  sealedAt: string;
}

/** Retention took a bundle away: its absence is no loss. */
export interface LedgerRemoval extends LedgerCover {
  /** Name of the bundle's folder or file. */
  removed: string;
  removedAt: string;
}

/** A signature over the ledger's id, `count` and `before`. */
export interface LedgerSeal extends LedgerCover {
  seal: 'ed25519';
  /** Raw public key, base64. */
  key: string;
  signature: string;
  sealedAt: string;
}

export type LedgerRecord = LedgerGenesis | LedgerBundle | LedgerRemoval | LedgerSeal;

/** What a seal signs. */
export function sealedText(ledgerId: string, cover: LedgerCover): string {
  return `${ledgerDomains.seal}\0${ledgerId} ${cover.count} ${cover.before}`;
}
