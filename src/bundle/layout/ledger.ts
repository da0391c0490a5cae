/**
 * The ledger's file format: one record per line, `<checksum> <JSON>\n`. FORMAT.md, "The ledger", says what it proves and
 * what not. Every hash is a lower-case hexadecimal SHA-256 over a domain string, a zero byte, and exact bytes of the file.
 */
export const ledgerName = 'ledger';
export const ledgerSchema = 'agentdump.ledger/1';

export const ledgerDomains = {
  /** For a line's JSON: the line's own checksum, which detects damage. */
  line: 'agentdump.ledger/1 line',
  /** For the file up to an offset: the head at that offset. */
  head: 'agentdump.ledger/1 head',
  /** Prefix of what a seal signs. */
  seal: 'agentdump.ledger/1 seal',
} as const;

/** The first line. Its id binds every head to this ledger. */
export interface LedgerGenesis {
  ledger: typeof ledgerSchema;
  /** 32 lower-case hexadecimal digits, random. */
  id: string;
  createdAt: string;
}

/** In every later line: the part of the file that existed when it was written. */
export interface LedgerCover {
  /** The number of bytes from the start: all of them, unless two processes wrote at once. */
  covers: number;
  /** The head at that offset. */
  before: string;
  /** The number of lines up to there. */
  count: number;
}

export interface LedgerBundle extends LedgerCover {
  bundle: string;
  /** SHA-256 of manifest.json's bytes. */
  manifest: string;
  sealedAt: string;
}

/** Retention removed a bundle: its absence is no loss. */
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
